import { err, ok, type Result } from "../../lib/result.ts";
import { bookPosition } from "../chess/position.ts";
import type { BookEntry, BookIndex, Opening } from "./book.ts";
import { linesIn } from "./book-lines.ts";

const MAX_POSITION = 1_000;
/** Placement, side to move, castling, en passant, the two counters and the operations. Books may leave out all but the first two fields. */
const FIELDS =
  /^(\S+) ([wb])(?: (-|[a-hkq]{1,4}))?(?: (-|[a-h][1-8]))?(?: (\d+))?(?: (\d+))?(?: ((?![wb] |[\d/]).*))?$/i;

/** Finds the lines of a book in EPD, without empty lines and comments, which begin with `#` or `;`. */
export function epdEntries(pieces: Iterable<Uint8Array>): BookIndex {
  const index: BookIndex = { starts: [], lines: [] };
  for (const { start, number, text } of linesIn(pieces)) {
    if (/^\s*(?:$|[#;])/.test(text)) continue;
    index.starts.push(start);
    index.lines.push(number);
  }
  return index;
}

/**
 * Parses a position in EPD: four fields and operations. The counters of a FEN come from the fifth and sixth field of a FEN or from
 * the operations `hmvc` and `fmvn`, and are 0 and 1 by default. `id` is the name. Other operations are ignored.
 */
export function epdOpening({ line, text }: BookEntry): Result<Opening, string> {
  const [first = ""] = text.split(/[\r\n]/, 1);
  if (first.length > MAX_POSITION) return err(`line ${line}: more than ${MAX_POSITION} characters`);
  const fields = FIELDS.exec(first.trim().replace(/\s+/g, " "));
  if (!fields) return err(`line ${line}: not a position in EPD, which has four fields`);
  const [, placement, turn, castling, enPassant, clock, number, operations = ""] = fields;
  const { id, hmvc, fmvn } = operandsIn(operations);
  const start = bookPosition([placement, turn, castling, enPassant, clock ?? hmvc, number ?? fmvn]);
  if (!start.ok) return err(`line ${line}: ${start.error}`);
  return ok({ name: id || null, options: { fen: start.value } });
}

/** Returns the operands that are read. The semicolon after an operation may be missing. */
function operandsIn(operations: string): { readonly id?: string; readonly hmvc?: string; readonly fmvn?: string } {
  const operands: { id?: string; hmvc?: string; fmvn?: string } = {};
  const tokens = operations.match(/"[^"]*"?|;|[^\s;"]+/g) ?? [];
  for (const [index, token] of tokens.entries()) {
    const [operand = "", ...others] = tokens.slice(index + 1);
    if ((token === "hmvc" || token === "fmvn") && /^\d+$/.test(operand)) operands[token] ??= operand;
    if (token !== "id") continue;
    const end = others.indexOf(";");
    const words = [operand, ...others.slice(0, end < 0 ? undefined : end)];
    operands.id ??= operand.startsWith('"') ? operand.replaceAll('"', "") : words.join(" ");
  }
  return operands;
}
