import { type ChessView, chess } from "#shared/games/chess.ts";

const INITIAL = chess.options.parse({}).fen;

/** Returns the position in which the moves of a match with these options begin. */
export const startOf = (options: unknown): string => chess.options.safeParse(options ?? {}).data?.fen ?? INITIAL;

/**
 * Returns the position of a turn as a command of UCI, with the moves of the match, which an engine needs to see repetitions. `start` is the position in
 * which they begin; null if it is not known. The view of a referee of an earlier version has no moves.
 */
export function positionCommand(start: string | null, { fen, moves }: ChessView): string {
  if (start === null || moves === undefined) return `position fen ${fen}`;
  const begin = start === INITIAL ? "startpos" : `fen ${start}`;
  return ["position", begin, ...(moves.length > 0 ? ["moves", ...moves] : [])].join(" ");
}
