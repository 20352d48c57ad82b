import { closeSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import {
  type BookBytes,
  bookKindOf,
  firstOpenings,
  type OpeningChoice,
  readBook,
} from "#shared/games/opening-books.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { fileReason } from "../process/exit.ts";

/** The maximum number of openings of a league. They are part of its log. */
const MAX_OPENINGS = 20_000;

const file = z
  .string()
  .regex(/\.(epd|fen|pgn)$/i, "must be a book with the ending .epd, .fen or .pgn")
  .describe("an opening book of chess in EPD or PGN, relative to this file");

/** A book, and how openings are taken from it. */
const Book = z.strictObject({
  file,
  order: z
    .enum(["sequential", "random"])
    .default("sequential")
    .describe("the order of the openings: that of the book, or random by `seed`"),
  seed: z.string().max(200).default("").describe("the seed of a random order"),
  plies: z
    .int()
    .min(1)
    .max(300)
    .optional()
    .describe("the moves of white and black, each counted as one, that are taken from a game in PGN (default: all)"),
  count: z.int().min(1).max(MAX_OPENINGS).default(500).describe("the maximum number of openings"),
});

const listed = z.array(z.record(z.string(), z.unknown())).min(1).max(MAX_OPENINGS);

/** The openings of a league. `loadConfigOpenings` replaces a book by its openings before the config is parsed. */
export const Openings = z
  .union([listed, file, Book])
  // A book that was not replaced has a fault, which the union reports.
  .transform((openings): readonly Readonly<Record<string, unknown>>[] => (Array.isArray(openings) ? openings : []))
  .describe(
    'options of the game for each round in turn: a book such as "book.epd", {"file": "book.pgn", "order": "random", "plies": 16}, or a list such as [{"moves": "e2e4 e7e5"}] (default: none)',
  );

interface OpeningsFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Returns a config with the openings of each book in the place of the book, and a notice for each book with skipped entries, or the fault of each book. Values of
 * another form are left to the schema.
 */
export function loadConfigOpenings(
  config: unknown,
  folder: string,
): Result<{ readonly config: unknown; readonly notices: readonly string[] }, readonly OpeningsFault[]> {
  const { leagues } = (config ?? {}) as { readonly leagues?: unknown };
  const notices: string[] = [];
  if (!Array.isArray(leagues)) return ok({ config, notices });
  const faults: OpeningsFault[] = [];
  const read = leagues.map((league: unknown, index) => {
    const { openings } = (league ?? {}) as { readonly openings?: unknown };
    const book = Book.safeParse(typeof openings === "string" ? { file: openings } : openings);
    if (openings === undefined || !book.success) return league;
    const { file, count, ...choice } = book.data;
    const taken = openingsOfBook(resolve(folder, file), count, { ...choice, isOnce: true });
    if (taken.ok) {
      if (taken.value.notice !== null) notices.push(`${file}: ${taken.value.notice}`);
      return { ...(league as object), openings: taken.value.options };
    }
    const isMissing = taken.error === NO_FILE;
    const advice = isMissing ? "; the path is relative to the folder of the config" : "";
    faults.push({ path: ["leagues", index, "openings"], message: `${file}: ${taken.error}${advice}` });
    return league;
  });
  return faults.length > 0 ? err(faults) : ok({ config: { ...(config as object), leagues: read }, notices });
}

const NO_FILE = "no such file";

interface TakenOpenings {
  /** The options of chess for each opening. */
  readonly options: readonly object[];
  /** The number of the entries that are skipped because they have no usable opening, and the first reason; null if there are none. */
  readonly notice: string | null;
}

/** Takes the first openings from the book in a file, or returns the reason why it has none. */
export function openingsOfBook(path: string, count: number, choice: OpeningChoice): Result<TakenOpenings, string> {
  const kind = bookKindOf(path);
  if (kind === null) return err("a book is a file with the ending .epd, .fen or .pgn");
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (thrown) {
    return err((thrown as NodeJS.ErrnoException).code === "ENOENT" ? NO_FILE : fileReason(thrown as Error));
  }
  try {
    const book = readBook(bytesOf(file), kind);
    if (!book.ok) return book;
    const chosen = firstOpenings(book.value, count, choice);
    if (!chosen.ok) return chosen;
    const { openings, skipped, firstFault } = chosen.value;
    const entries = skipped === 1 ? "one opening is" : `${skipped} openings are`;
    const notice = firstFault === null ? null : `${entries} skipped; the first: ${firstFault}`;
    return ok({ options: openings.map(({ options }) => options), notice });
  } catch (thrown) {
    // The file can also be a folder, or become unreadable.
    if (!(thrown instanceof Error && "syscall" in thrown)) throw thrown;
    return err(fileReason(thrown as NodeJS.ErrnoException));
  } finally {
    closeSync(file);
  }
}

const PIECE_BYTES = 1 << 20;

/** The bytes of an open file. Only the piece that is being read is in memory. */
const bytesOf = (file: number): BookBytes => ({
  *pieces() {
    const buffer = Buffer.alloc(PIECE_BYTES);
    for (let at = 0; ; ) {
      const length = readSync(file, buffer, 0, PIECE_BYTES, at);
      if (length === 0) return;
      at += length;
      yield buffer.subarray(0, length);
    }
  },
  read(start, end) {
    const buffer = Buffer.alloc(end - start);
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, start));
  },
});
