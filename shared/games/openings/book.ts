import { err, ok, type Result } from "../../lib/result.ts";
import { createRandom } from "../../lib/rng.ts";
import { epdEntries, epdOpening } from "./epd.ts";
import { pgnEntries, pgnOpening } from "./pgn.ts";

/** The formats of opening books. */
const KINDS = ["epd", "pgn"] as const;
type BookKind = (typeof KINDS)[number];

/** The largest book: about 200,000 games. */
const MAX_CHARACTERS = 100_000_000;

/** The text of one opening in its book. It is parsed when it is used, because books have up to 100,000 openings. */
export interface BookEntry {
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface OpeningBook {
  readonly kind: BookKind;
  readonly entries: readonly BookEntry[];
}

/** An opening as options of chess: a position, moves, or moves from a position. */
export interface Opening {
  /** The name in the book: the operation `id` of EPD, the tag `Opening` of PGN; null if there is none. */
  readonly name: string | null;
  readonly options: { readonly fen?: string; readonly moves?: string };
}

/** How openings are taken from a book. */
interface OpeningChoice {
  readonly order: "sequential" | "random";
  /** The seed of the order "random". */
  readonly seed: string;
  /** The number of moves of white and black, each counted as one, that are taken from a game in PGN; absent for all. */
  readonly plies?: number | undefined;
}

/** Returns the format of a book by the ending of its file: .epd, .fen or .pgn; null for any other ending. */
export function bookKindOf(file: string): BookKind | null {
  const ending = /\.(epd|fen|pgn)$/i.exec(file)?.[1]?.toLowerCase();
  return ending === "fen" ? "epd" : (KINDS.find((kind) => kind === ending) ?? null);
}

/** Splits the text of a book into its openings. Returns the reason if it has none or is too large. */
export function readBook(text: string, kind: BookKind): Result<OpeningBook, string> {
  if (text.length > MAX_CHARACTERS) return err(`the book has more than ${MAX_CHARACTERS} characters`);
  const entries = kind === "epd" ? epdEntries(text) : pgnEntries(text);
  return entries.length === 0 ? err(`the book has no opening in ${kind.toUpperCase()}`) : ok({ kind, entries });
}

/**
 * Returns the entry number `index` of a tournament, from 0. When all entries have been used, they are used again, in the order "random" in another
 * order.
 */
function entryAt(book: OpeningBook, index: number, { order, seed }: OpeningChoice): BookEntry {
  const { entries } = book;
  const cycle = Math.floor(index / entries.length);
  const place = index % entries.length;
  const entry = entries[order === "random" ? (shuffled(book, seed, cycle)[place] ?? 0) : place];
  if (!entry) throw new RangeError("a book has at least one opening");
  return entry;
}

const parsed = ({ kind }: OpeningBook, entry: BookEntry, { plies }: OpeningChoice): Result<Opening, string> =>
  kind === "epd" ? epdOpening(entry) : pgnOpening(entry, plies);

/**
 * Returns the first `count` openings of a tournament, or the first fault with its line. Two games with reversed roles share one opening, so `count` is
 * the number of pairs of games.
 */
export function firstOpenings(
  book: OpeningBook,
  count: number,
  choice: OpeningChoice,
): Result<readonly Opening[], string> {
  const openings: Opening[] = [];
  // A game in PGN takes a millisecond, and a test may need more openings than the book has.
  const known = new Map<BookEntry, Result<Opening, string>>();
  for (let index = 0; index < count; index++) {
    const entry = entryAt(book, index, choice);
    const opening = known.get(entry) ?? parsed(book, entry, choice);
    known.set(entry, opening);
    if (!opening.ok) return opening;
    openings.push(opening.value);
  }
  return ok(openings);
}

/** The last order of each book, which the next opening uses again. */
const orders = new WeakMap<OpeningBook, { readonly key: string; readonly order: readonly number[] }>();

function shuffled(book: OpeningBook, seed: string, cycle: number): readonly number[] {
  const key = `${seed}/openings/${cycle}`;
  const known = orders.get(book);
  if (known?.key === key) return known.order;
  const order = createRandom(key).shuffle([...book.entries.keys()]);
  orders.set(book, { key, order });
  return order;
}
