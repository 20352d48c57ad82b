import type { FactsOfGames } from "./game-facts.ts";
import type { GameView } from "./game-view.ts";

/** The fields of a view that change during a match. */
export type Frame = Pick<
  GameView,
  "status" | "tick" | "to_act" | "state" | "board" | "last_action" | "result" | "clock"
> & {
  /** The actions of the turn that led to this frame, as people write them: SAN in chess. */
  readonly moves: readonly MoveOfTurn[];
};

export interface MoveOfTurn {
  readonly role: string;
  readonly text: string;
}

/** A match as a spectator has seen it, step by step. */
export interface Replay {
  readonly game: Omit<GameView, keyof Frame>;
  readonly frames: readonly Frame[];
}

/** A replay in a report. */
export interface PackedReplay {
  /** The part of the address after `#` that shows this replay. */
  readonly anchor: string;
  readonly label: string;
  /** A `Replay` as JSON, compressed (raw DEFLATE) and in Base64. */
  readonly data: string;
}

/** The data of a report for its script. */
export interface ReportSetup {
  readonly games: FactsOfGames;
  readonly replays: readonly PackedReplay[];
}
