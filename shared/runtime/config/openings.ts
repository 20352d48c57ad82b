import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { bookKindOf, firstOpenings, readBook } from "../../games/openings/book.ts";
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

/** Returns a config with the openings of each book in the place of the book, or the fault of each book. Values of another form are left to the schema. */
export function loadConfigOpenings(config: unknown, folder: string): Result<unknown, readonly OpeningsFault[]> {
  const { leagues } = (config ?? {}) as { readonly leagues?: unknown };
  if (!Array.isArray(leagues)) return ok(config);
  const faults: OpeningsFault[] = [];
  const read = leagues.map((league: unknown, index) => {
    const { openings } = (league ?? {}) as { readonly openings?: unknown };
    const book = Book.safeParse(typeof openings === "string" ? { file: openings } : openings);
    if (openings === undefined || !book.success) return league;
    const options = optionsOfBook(book.data, folder);
    if (options.ok) return { ...(league as object), openings: options.value };
    faults.push({ path: ["leagues", index, "openings"], message: `${book.data.file}: ${options.error}` });
    return league;
  });
  return faults.length > 0 ? err(faults) : ok({ ...(config as object), leagues: read });
}

function optionsOfBook(
  { file, count, ...choice }: z.infer<typeof Book>,
  folder: string,
): Result<readonly object[], string> {
  const kind = bookKindOf(file);
  if (kind === null) return err("the ending of a book is .epd, .fen or .pgn");
  let text: string;
  try {
    text = readFileSync(resolve(folder, file), "utf8");
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
    return err(
      isMissing ? "no such file; the path is relative to the folder of the config" : fileReason(thrown as Error),
    );
  }
  const book = readBook(text, kind);
  if (!book.ok) return book;
  const openings = firstOpenings(book.value, Math.min(count, book.value.entries.length), choice);
  return openings.ok ? ok(openings.value.map(({ options }) => options)) : openings;
}
