import type { LeagueDocument, PlayerRef } from "./league.ts";

/** `GET /api/leagues/{league_id}/bracket?part=1` */
export interface BracketDocument extends LeagueDocument {
  /**
   * A large bracket is shown in parts: the final rounds (`part` 0), and parts from 1 of which each has the ties of all rounds before that lead to the same
   * place. `parts` is 0 for a bracket that is shown as a whole.
   */
  readonly part: number;
  readonly parts: number;
  /** The trees of the bracket, empty before the first round is paired. */
  readonly trees: readonly BracketTree[];
  /** The players that have won the bracket; empty before. */
  readonly winner: readonly PlayerRef[];
}

/** Rounds of which each one follows from the one before. */
export interface BracketTree {
  /** "Winners", "Losers", "Third place" or "Final"; empty for the tree of a single elimination. */
  readonly name: string;
  readonly rounds: readonly BracketRoundView[];
}

export interface BracketRoundView {
  readonly label: string;
  /** The ties that are shown of a round that is not shown as a whole: "ties 33–64"; empty otherwise. */
  readonly ties_shown: string;
  readonly ties: readonly BracketTieView[];
}

export interface BracketTieView {
  readonly id: string;
  readonly state: "waiting" | "playing" | "decided";
  /** How the tie was decided, if not by points: "bye". Empty otherwise. */
  readonly note: string;
  readonly match_ids: readonly string[];
  readonly slots: readonly [BracketSlotView, BracketSlotView];
}

export interface BracketSlotView {
  /** The player, or the members of a team; empty if it is not known. */
  readonly players: readonly PlayerRef[];
  readonly seed: number | null;
  /** Where the player comes from, in words: "Winner of Semi-final 1". Empty if the player is known. */
  readonly from: string;
  /** The result of each match: 1, = or 0, + or - for a forfeit, "" for a match without a result. */
  readonly marks: readonly string[];
  /** The points of the matches; null without a result. */
  readonly points: number | null;
  readonly is_winner: boolean;
}
