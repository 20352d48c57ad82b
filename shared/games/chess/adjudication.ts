import { z } from "zod";
import type { Color } from "./terms.ts";

/** The options of chess for adjudication. Without `resign_score` or `draw_score` the rule is off. */
export const ADJUDICATION_OPTIONS = {
  /** A role that reports a score of minus this value or less loses after `resign_moves` such moves in a row. Centipawns. */
  resign_score: z.int().min(1).max(100_000).optional(),
  resign_moves: z.int().min(1).max(1_000).optional(),
  /** The game is a draw when both roles have reported a score between minus this value and this value for `draw_moves` moves each in a row. */
  draw_score: z.int().min(0).max(100_000).optional(),
  draw_moves: z.int().min(1).max(1_000).optional(),
  /** The number of the first move after which the game can be a draw, as a FEN counts moves. */
  draw_from_move: z.int().min(1).max(6_000).optional(),
} as const;

/** The meaning of the options, for `GameInfo`. */
export const ADJUDICATION_TEXTS = {
  resign_score:
    "1 to 100000 centipawns: a role that reports a score of minus this value or less for `resign_moves` moves in a row loses; default: off",
  resign_moves: "1 to 1000; default: 3",
  draw_score:
    "0 to 100000 centipawns: the game is a draw when both roles report scores of at most this value, positive or negative, for `draw_moves` moves each in a row; default: off",
  draw_moves: "1 to 1000; default: 8",
  draw_from_move: "1 to 6000: no draw by scores before this move, as the FEN counts moves; default: 40",
} as const;

/** The values of fastchess's examples. */
const DEFAULTS = { resign_moves: 3, draw_moves: 8, draw_from_move: 40 } as const;

/** For each option with a default the option without which it has no meaning. */
export const NEEDED_OPTIONS = [
  ["resign_moves", "resign_score"],
  ["draw_moves", "draw_score"],
  ["draw_from_move", "draw_score"],
] as const;

interface AdjudicationOptions {
  readonly resign_score?: number | undefined;
  readonly resign_moves?: number | undefined;
  readonly draw_score?: number | undefined;
  readonly draw_moves?: number | undefined;
  readonly draw_from_move?: number | undefined;
}

/** The score that a role reports with its move, from its own point of view: centipawns, or moves to mate, negative if it is mated. */
export interface Score {
  readonly unit: "cp" | "mate";
  readonly value: number;
}

/** Returns the move of an action that may have a score: "e2e4" for "e2e4 cp 35". */
export const withoutScore = (action: string): string => action.split(" ", 1)[0] ?? "";

/** The rules of adjudication, and what the scores of the latest moves are. */
export interface Adjudication {
  readonly resign?: { readonly score: number; readonly moves: number };
  readonly draw?: { readonly score: number; readonly moves: number; readonly from_move: number };
  /** The number of moves in a row that each role has made with a lost score. */
  readonly lost: Readonly<Record<Color, number>>;
  /** The number of moves in a row, of both roles, with a score near 0. */
  readonly level: number;
}

/** Returns the state of adjudication before the first move; null if the options have no such rule. */
export function adjudicationOf(options: AdjudicationOptions): Adjudication | null {
  const { resign_score, draw_score, resign_moves, draw_moves, draw_from_move } = options;
  if (resign_score === undefined && draw_score === undefined) return null;
  return {
    ...(resign_score !== undefined && {
      resign: { score: resign_score, moves: resign_moves ?? DEFAULTS.resign_moves },
    }),
    ...(draw_score !== undefined && {
      draw: {
        score: draw_score,
        moves: draw_moves ?? DEFAULTS.draw_moves,
        from_move: draw_from_move ?? DEFAULTS.draw_from_move,
      },
    }),
    lost: { white: 0, black: 0 },
    level: 0,
  };
}

/** Returns the state of adjudication after a move of `mover`. A move without a score ends both rows of moves of its role. */
export function afterScore(before: Adjudication, mover: Color, score: Score | null): Adjudication {
  const { resign, draw, lost, level } = before;
  const isLost = score !== null && resign !== undefined && isLostBy(score, resign.score);
  const isLevel = score?.unit === "cp" && draw !== undefined && Math.abs(score.value) <= draw.score;
  return { ...before, lost: { ...lost, [mover]: isLost ? lost[mover] + 1 : 0 }, level: isLevel ? level + 1 : 0 };
}

const isLostBy = ({ unit, value }: Score, limit: number): boolean => (unit === "mate" ? value < 0 : value <= -limit);

/** Returns the result by adjudication after a move of `mover`, or null. `moveNumber` is the number of this move. */
export function adjudicatedResult(
  { resign, draw, lost, level }: Adjudication,
  mover: Color,
  moveNumber: number,
): { readonly winner: Color | null; readonly reason: "resignation" | "draw_adjudicated" } | null {
  if (resign && lost[mover] >= resign.moves) {
    return { winner: mover === "white" ? "black" : "white", reason: "resignation" };
  }
  const isDraw = draw !== undefined && moveNumber >= draw.from_move && level >= 2 * draw.moves;
  return isDraw ? { winner: null, reason: "draw_adjudicated" } : null;
}
