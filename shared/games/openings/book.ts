import { err, ok, type Result } from "../../lib/result.ts";
import { createRandom } from "../../lib/rng.ts";
import { epdEntries, epdOpening } from "./epd.ts";
import { pgnEntries, pgnOpening } from "./pgn.ts";

/** The formats of opening books. */
const KINDS = ["epd", "pgn"] as const;
type BookKind = (typeof KINDS)[number];

/** The bytes of a book. A book is never in memory as a whole, because books have up to some hundred megabytes. */
export interface BookBytes {
  /** Returns the bytes from the start to the end. A piece is valid until the next one is asked for. */
  pieces(): Iterable<Uint8Array>;
  /** Returns the bytes from `start` up to `end` or the end of the book. */
  read(start: number, end: number): Uint8Array;
}

/** The places of the openings in a book. */
export interface BookIndex {
  /** The offset of the first byte of each opening, in ascending order. */
  readonly starts: number[];
  /** The number of the first line of each opening, from 1. */
  readonly lines: number[];
}

/** The text of one opening in its book. It is read and parsed when it is used. */
export interface BookEntry {
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface OpeningBook extends BookIndex {
  readonly kind: BookKind;
  readonly bytes: BookBytes;
}

/** An opening as options of chess: a position, moves, or moves from a position. */
export interface Opening {
  /** The name in the book: the operation `id` of EPD, the tag `Opening` of PGN; null if there is none. */
  readonly name: string | null;
  readonly options: { readonly fen?: string; readonly moves?: string };
}

/** How openings are taken from a book. */
export interface OpeningChoice {
  readonly order: "sequential" | "random";
  /** The seed of the order "random". */
  readonly seed: string;
  /** The number of moves of white and black, each counted as one, that are taken from a game in PGN; absent for all. */
  readonly plies?: number | undefined;
  /** Whether each opening is used at most once, so that there may be fewer than the wanted number. */
  readonly isOnce?: boolean;
}

/** The openings that were taken from a book. */
interface ChosenOpenings {
  readonly openings: readonly Opening[];
  /** The number of entries without a usable opening that were met. */
  readonly skipped: number;
  /** Why the first of them is not usable, with its line; null if there is none. */
  readonly firstFault: string | null;
}

/** The largest number of characters of an opening. */
const MAX_ENTRY = 100_000;

/** Returns the format of a book by the ending of its file: .epd, .fen or .pgn; null for any other ending. */
export function bookKindOf(file: string): BookKind | null {
  const ending = /\.(epd|fen|pgn)$/i.exec(file)?.[1]?.toLowerCase();
  return ending === "fen" ? "epd" : (KINDS.find((kind) => kind === ending) ?? null);
}

/** Finds the openings of a book. Returns the reason if it has none. */
export function readBook(bytes: BookBytes, kind: BookKind): Result<OpeningBook, string> {
  const index = kind === "epd" ? epdEntries(bytes.pieces()) : pgnEntries(bytes.pieces());
  if (index.starts.length === 0) return err(`the book has no opening in ${kind.toUpperCase()}`);
  return ok({ kind, bytes, ...index });
}

/** Returns the entry with this index in the book. */
function entryAt({ bytes, starts, lines }: OpeningBook, place: number): BookEntry {
  const start = starts[place] ?? 0;
  const end = Math.min(starts[place + 1] ?? Number.POSITIVE_INFINITY, start + MAX_ENTRY + 1);
  return { line: lines[place] ?? 1, text: decoded(bytes.read(start, end)) };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const latin1 = new TextDecoder("windows-1252");

/** Old collections are in Latin-1. Bytes of it are hardly ever valid UTF-8. */
function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}

function parsed(book: OpeningBook, place: number, plies: number | undefined): Result<Opening, string> {
  const entry = entryAt(book, place);
  if (book.kind === "epd") return epdOpening(entry);
  if (entry.text.length > MAX_ENTRY) return err(`line ${entry.line}: the game has more than ${MAX_ENTRY} characters`);
  return pgnOpening(entry, plies);
}

/**
 * Returns the first `count` openings of a tournament. Entries without a usable opening are skipped. When all entries have been used, they are used again, in
 * the order "random" in another order. Fails with the first fault if no entry is usable. Two games with reversed roles share one opening, so `count` is the
 * number of pairs of games.
 */
export function firstOpenings(book: OpeningBook, count: number, choice: OpeningChoice): Result<ChosenOpenings, string> {
  const { length } = book.starts;
  const openings: Opening[] = [];
  // Parsing takes up to a millisecond, and a test may need more openings than the book has.
  const known = new Map<number, Result<Opening, string>>();
  const faults: string[] = [];
  for (let index = 0; openings.length < count; index++) {
    const isOver = index >= length && (choice.isOnce === true || openings.length === 0);
    if (isOver) break;
    const place = placeOf(book, index, choice);
    const opening = known.get(place) ?? parsed(book, place, choice.plies);
    if (!opening.ok && !known.has(place)) faults.push(opening.error);
    known.set(place, opening);
    if (opening.ok) openings.push(opening.value);
  }
  const [firstFault = null] = faults;
  if (openings.length === 0 && firstFault !== null) {
    const others = faults.length > 1 ? `; the book has no usable opening (${faults.length} tried)` : "";
    return err(`${firstFault}${others}`);
  }
  return ok({ openings, skipped: faults.length, firstFault });
}

/** The index in the book of the entry number `index` of a tournament, from 0. */
function placeOf(book: OpeningBook, index: number, { order, seed }: OpeningChoice): number {
  const cycle = Math.floor(index / book.starts.length);
  const place = index % book.starts.length;
  return order === "random" ? (shuffled(book, seed, cycle)[place] ?? 0) : place;
}

/** The last order of each book, which the next opening uses again. */
const orders = new WeakMap<OpeningBook, { readonly key: string; readonly order: readonly number[] }>();

function shuffled(book: OpeningBook, seed: string, cycle: number): readonly number[] {
  const key = `${seed}/openings/${cycle}`;
  const known = orders.get(book);
  if (known?.key === key) return known.order;
  const order = createRandom(key).shuffle([...book.starts.keys()]);
  orders.set(book, { key, order });
  return order;
}
