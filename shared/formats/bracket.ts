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

/** The seeds of the first round in the order of the bracket, so that seeds 1 and 2 can meet only in the final: 1 8 4 5 2 7 3 6. */
export function bracketOrder(size: number): readonly number[] {
  let order: readonly number[] = [1];
  while (order.length < size) order = order.flatMap((seed) => [seed, 2 * order.length + 1 - seed]);
  return order;
}

/** The number of places of the first round: a power of two. */
export const bracketSize = (playerCount: number): number => 2 ** Math.ceil(Math.log2(playerCount));

const winner = (tie: PlannedTie | undefined): Source => ({ winnerOf: tie?.id ?? "" });
const loser = (tie: PlannedTie | undefined): Source => ({ loserOf: tie?.id ?? "" });

/** Ties of the pairs of sources that follow each other, numbered from 1. */
function tiesOf(prefix: string, sources: readonly Source[]): readonly PlannedTie[] {
  return Array.from({ length: sources.length / 2 }, (_, index) => ({
    id: `${prefix}-${index + 1}`,
    sources: [sources[2 * index] as Source, sources[2 * index + 1] as Source],
  }));
}

/** The rounds of players without a loss, up to one tie. */
function winnersRounds(playerCount: number): readonly (readonly PlannedTie[])[] {
  const seeds = bracketOrder(bracketSize(playerCount)).map((seed) => ({ seed }));
  const rounds = [tiesOf("W1", seeds)];
  while ((rounds.at(-1)?.length ?? 0) > 1) {
    rounds.push(tiesOf(`W${rounds.length + 1}`, (rounds.at(-1) ?? []).map(winner)));
  }
  return rounds;
}

const round = (label: string, section: Section, ties: readonly PlannedTie[]): PlannedRound => ({
  label,
  section,
  ties,
});

const KNOCKOUT_LABELS: Readonly<Record<number, string>> = { 1: "Final", 2: "Semi-final", 4: "Quarter-final" };

/** The match for the third place is played before the final. */
export function singleEliminationPlan(playerCount: number, thirdPlace: boolean): readonly PlannedRound[] {
  if (playerCount < 2) return [];
  const winners = winnersRounds(playerCount);
  const rounds = winners.map((ties) =>
    round(KNOCKOUT_LABELS[ties.length] ?? `Round of ${2 * ties.length}`, ties.length === 1 ? "final" : "winners", ties),
  );
  const semiFinal = winners.at(-2);
  if (!thirdPlace || semiFinal === undefined) return rounds;
  return [
    ...rounds.slice(0, -1),
    round("Third place", "third_place", tiesOf("T", semiFinal.map(loser))),
    ...rounds.slice(-1),
  ];
}

/**
 * Losers of the winners' rounds drop into the losers' rounds, in an order that lets players meet again as late as possible: an exhaustive search found no
 * better exchange of groups for up to 64 players.
 */
export function doubleEliminationPlan(playerCount: number, reset: boolean): readonly PlannedRound[] {
  if (playerCount < 2) return [];
  const winners = winnersRounds(playerCount);
  const last = winners.length;
  const label = (number: number) => (number === last ? "Winners' final" : `Winners' round ${number}`);
  const rounds = winners.slice(0, 1).map((ties) => round(label(1), "winners", ties));
  let losers: readonly Source[] = (winners[0] ?? []).map(loser);
  let losersRounds = 0;
  const addLosersRound = (sources: readonly Source[], isLast: boolean): void => {
    losersRounds++;
    const ties = tiesOf(`L${losersRounds}`, sources);
    rounds.push(round(isLast ? "Losers' final" : `Losers' round ${losersRounds}`, "losers", ties));
    losers = ties.map(winner);
  };
  for (let number = 2; number <= last; number++) {
    addLosersRound(losers, false);
    const ties = winners[number - 1] ?? [];
    rounds.push(round(label(number), "winners", ties));
    const dropped = crossed(ties.map(loser), last);
    addLosersRound(
      losers.flatMap((survivor, index) => [survivor, dropped[index] as Source]),
      number === last,
    );
  }
  return [...rounds, ...grandFinal(winner(winners.at(-1)?.[0]), losers[0] as Source, reset)];
}

/** Exchanges groups of losers of a winners' round. `rounds` is the number of winners' rounds. */
function crossed(sources: readonly Source[], rounds: number): readonly Source[] {
  const exchange = Math.min(sources.length - 1, 2 ** Math.floor((rounds - 1) / 2));
  return sources.map((_, index) => sources[index ^ exchange] as Source);
}

/** The grand final, and its second match if the player without a loss has lost the first. */
function grandFinal(undefeated: Source, challenger: Source, reset: boolean): readonly PlannedRound[] {
  const first: PlannedTie = { id: "GF-1", sources: [undefeated, challenger] };
  const second: PlannedTie = { id: "GF-2", sources: [winner(first), loser(first)], onlyIfUpset: first.id };
  return [
    round("Grand final", "final", [first]),
    ...(reset ? [round("Grand final, second match", "final", [second])] : []),
  ];
}
