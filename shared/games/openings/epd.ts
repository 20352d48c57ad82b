import { err, ok, type Result } from "../../lib/result.ts";
import { startPosition } from "../chess/position.ts";
import type { BookEntry, Opening } from "./book.ts";

const MAX_LINE = 1_000;
const FIELDS = /^(\S+ [wb] \S+ \S+)(?: (\d+) (\d+))?(?:\s+(.*))?$/;

/** Returns the lines of a book in EPD, without empty lines and comments, which begin with `#`. */
export function epdEntries(text: string): readonly BookEntry[] {
  return text
    .split("\n")
    .map((line, index) => ({ line: index + 1, text: line.trim() }))
    .filter((entry) => entry.text !== "" && !entry.text.startsWith("#"));
}

/**
 * Parses a position in EPD: four fields and operations. The counters of a FEN come from the fifth and sixth field of a FEN or from
 * the operations `hmvc` and `fmvn`, and are 0 and 1 by default. `id` is the name. Other operations are ignored.
 */
export function epdOpening({ line, text }: BookEntry): Result<Opening, string> {
  if (text.length > MAX_LINE) return err(`line ${line}: more than ${MAX_LINE} characters`);
  const [, position, clock, number, operations = ""] = FIELDS.exec(text.replace(/\s+/g, " ")) ?? [];
  if (position === undefined) return err(`line ${line}: not a position in EPD, which has four fields`);
  const operand = (code: string): string | undefined =>
    new RegExp(`(?:^|;)\\s*${code}\\s+("[^"]*"|[^;"]*)`).exec(operations)?.[1]?.trim();
  const fen = `${position} ${clock ?? operand("hmvc") ?? 0} ${number ?? operand("fmvn") ?? 1}`;
  const start = startPosition(fen);
  if (!start.ok) return err(`line ${line}: ${start.error}`);
  return ok({ name: operand("id")?.replace(/^"|"$/g, "") || null, options: { fen: start.value } });
}
