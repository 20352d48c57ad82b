/**
 * A bracket: the pairings of an elimination as a tree. A *tie* is a pairing of two slots, decided by one or more matches (its legs). A slot is filled by
 * a seed, or by the winner or the loser of an earlier tie.
 */

/** How a slot is filled. Seeds count from 1. */
export type Source = { readonly seed: number } | { readonly winnerOf: string } | { readonly loserOf: string };

/** A tie before it is known who plays it. */
export interface PlannedTie {
  /** Unique within the bracket: "W2-1" is the first tie of the second round of the winners. */
  readonly id: string;
  readonly sources: readonly [Source, Source];
  /** The tie is played only if the first slot of this earlier tie has lost: the second match of a grand final. */
  readonly onlyIfUpset?: string;
}

export type Section = "winners" | "losers" | "third_place" | "final";

/** The ties that are played at the same time. */
export interface PlannedRound {
  readonly label: string;
  readonly section: Section;
  readonly ties: readonly PlannedTie[];
}

/** A slot of a tie. `playerId` is null as long as the earlier tie is not decided, and in an empty slot. */
export interface BracketSlot {
  readonly from: Source;
  readonly playerId: string | null;
  /** Whether no player comes: a bye of the opponent, or both players of the earlier tie have left. */
  readonly isEmpty: boolean;
}

/**
 * How a tie was decided: by the points of its matches; by seed, because all matches were drawn; by a bye; by a player that left; without a match, because
 * both slots are empty; or not at all, because it was not needed (the second match of a grand final).
 */
export type Decision = "points" | "seed" | "bye" | "withdrawal" | "empty" | "not_needed";

export interface BracketTie {
  readonly id: string;
  readonly slots: readonly [BracketSlot, BracketSlot];
  /** The matches in the order of their pairing. */
  readonly matchIds: readonly string[];
  /** Null as long as the tie is not decided. */
  readonly decidedBy: Decision | null;
  /** Null if the tie is not decided, or if both slots are empty. */
  readonly winner: string | null;
  /** Null if the tie is not decided, or if the opponent's slot is empty. */
  readonly loser: string | null;
}

export interface BracketRound {
  readonly label: string;
  readonly section: Section;
  readonly ties: readonly BracketTie[];
}

/** A bracket for pages: who plays, who has played, and where each player came from. */
export interface Bracket {
  /** The players by seed, the first seed first. */
  readonly seeds: readonly string[];
  /** All rounds in the order in which they are played, from the start to the final. */
  readonly rounds: readonly BracketRound[];
}

/** The ids of the ties whose winner or loser plays again. */
export function onwardTies(plan: readonly PlannedRound[]): {
  readonly winners: ReadonlySet<string>;
  readonly losers: ReadonlySet<string>;
} {
  const sources = plan.flatMap(({ ties }) => ties.flatMap((tie) => tie.sources));
  return {
    winners: new Set(sources.flatMap((source) => ("winnerOf" in source ? [source.winnerOf] : []))),
    losers: new Set(sources.flatMap((source) => ("loserOf" in source ? [source.loserOf] : []))),
  };
}
