import { Chess, DEFAULT_POSITION } from "chess.js";
import { err, messageOf, ok, type Result } from "../../lib/result.ts";
import { chess } from "../chess.ts";
import type { BookEntry, Opening } from "./book.ts";

const MAX_GAME = 100_000;

/** Splits a book in PGN into games. A game begins with its first tag, or with the first move if it has no tags. */
export function pgnEntries(text: string): readonly BookEntry[] {
  const games: { line: number; lines: string[] }[] = [];
  let isInMoves = true;
  let isInComment = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (!isInComment && line.startsWith("%")) continue; // PGN, section 6: a line for other programs
    const isTag = !isInComment && line.startsWith("[");
    const isBlank = line.trim() === "";
    if (isBlank && games.length === 0) continue;
    if (games.length === 0 || (isTag && isInMoves)) games.push({ line: index + 1, lines: [] });
    if (!isBlank) isInMoves = !isTag;
    games.at(-1)?.lines.push(line);
    if (!isTag) isInComment = endsInComment(line, isInComment);
  }
  return games.map(({ line, lines }) => ({ line, text: lines.join("\n") }));
}

/** Returns whether a comment in braces is open at the end of a line of moves. Braces do not nest; `;` begins a comment of one line. */
function endsInComment(line: string, isInComment: boolean): boolean {
  let isOpen = isInComment;
  for (const character of line) {
    if (isOpen) isOpen = character !== "}";
    else if (character === ";") return false;
    else isOpen = character === "{";
  }
  return isOpen;
}

/** Parses a game as an opening: the position of its tag FEN and its first `plies` moves. */
export function pgnOpening({ line, text }: BookEntry, plies?: number): Result<Opening, string> {
  if (text.length > MAX_GAME) return err(`line ${line}: the game has more than ${MAX_GAME} characters`);
  const board = new Chess();
  try {
    board.loadPgn(text);
  } catch (thrown) {
    const within = (thrown as { location?: { start: { line: number } } }).location?.start.line ?? 1;
    return err(`line ${line + within - 1}: ${messageOf(thrown)}`);
  }
  const { FEN: fen, Opening: name } = board.getHeaders();
  const moves = board.history({ verbose: true }).map(({ lan }) => lan);
  const opening = {
    ...(fen !== undefined && fen !== DEFAULT_POSITION && { fen }),
    ...(moves.length > 0 && plies !== 0 && { moves: moves.slice(0, plies).join(" ") }),
  };
  if (opening.fen === undefined && opening.moves === undefined) return err(`line ${line}: the game has no moves`);
  const parsed = chess.options.safeParse(opening);
  if (parsed.success) return ok({ name: name && name !== "?" ? name : null, options: opening });
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return err(`line ${line}: ${faults.join("; ")}`);
}
