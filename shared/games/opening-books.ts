import { Chess, DEFAULT_POSITION } from "chess.js";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { bookPosition, uciOfSan } from "./chess/moves.ts";
import { chess } from "./chess.ts";

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
interface BookIndex {
  /** The offset of the first byte of each opening, in ascending order. */
  readonly starts: number[];
  /** The number of the first line of each opening, from 1. */
  readonly lines: number[];
}

/** The text of one opening in its book. It is read and parsed when it is used. */
interface BookEntry {
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface OpeningBook extends BookIndex {
  readonly kind: BookKind;
  readonly bytes: BookBytes;
}

/** An opening as options of chess: a position, moves, or moves from a position. */
interface Opening {
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

const MAX_POSITION = 1_000;
/** Placement, side to move, castling, en passant, the two counters and the operations. Books may leave out all but the first two fields. */
const FIELDS =
  /^(\S+) ([wb])(?: (-|[a-hkq]{1,4}))?(?: (-|[a-h][1-8]))?(?: (\d+))?(?: (\d+))?(?: ((?![wb] |[\d/]).*))?$/i;

/** Finds the lines of a book in EPD, without empty lines and comments, which begin with `#` or `;`. */
function epdEntries(pieces: Iterable<Uint8Array>): BookIndex {
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
function epdOpening({ line, text }: BookEntry): Result<Opening, string> {
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

// The readers of npm reject games that other programs accept. Of the games of book.test.ts, @mliebelt/pgn-parser 1.4.19 rejects seven kinds (a comment
// before the tags, NAGs after comments, "0-0", "+=", unescaped quotes, lines with %, "a8=q") and takes 1.2 ms for a game of 32 plies; cm-pgn 5.0.0 rejects
// thirteen of 28 and takes 13 ms. chess.js reads a game to its end. So a lexer finds the moves here, and chess.js judges them.

/** A tag. Programs write quotes within the value with and without a backslash, so that only a quote before the bracket ends it. */
const TAG = /\[\s*(\w+)\s+"((?:\\.|"(?!\s*\])|[^"\\\r\n])*)"\s*\]/y;
const EVENT = /^\[\s*Event\s/;
const VARIANTS = /^(standard|chess|normal|regular|from position|\?)$/i;
/** The maximum number of plies of an opening. */
const MAX_PLIES = 300;

/**
 * Finds the games of a book in PGN. A game begins with its tags or the comments before them, or with the first move if it has no tags. A tag begins another
 * game after moves, and the tag Event also after another tag Event, for games without moves. The tag Event after an empty line ends a comment
 * that is not closed, which would otherwise hide all further games.
 */
function pgnEntries(pieces: Iterable<Uint8Array>): BookIndex {
  const index: BookIndex = { starts: [], lines: [] };
  let [isInComment, isAfterBlank, hasMoves, hasEvent] = [false, false, false, false];
  for (const { start, number, text } of linesIn(pieces)) {
    const line = text.trim();
    const isEvent = EVENT.test(line) && (!isInComment || isAfterBlank);
    isAfterBlank = line === "";
    if (isEvent) isInComment = false;
    if (line === "" || (text.startsWith("%") && !isInComment)) continue;
    const isTag = !isInComment && /^\[\s*\w/.test(line);
    if (index.starts.length === 0 || (isTag && (hasMoves || (isEvent && hasEvent)))) {
      index.starts.push(start);
      index.lines.push(number);
      [hasMoves, hasEvent] = [false, false];
    }
    hasEvent ||= isEvent;
    const found = outsideComments(isTag ? line.slice(tagsEnd(line)) : line, isInComment);
    hasMoves ||= found.hasText;
    isInComment = found.isInComment;
  }
  return index;
}

/** The length of the tags at the begin of a line; that of the line if its first tag has no known form. */
function tagsEnd(line: string): number {
  let end = 0;
  for (TAG.lastIndex = 0; TAG.test(line); TAG.lastIndex = end) {
    end = TAG.lastIndex;
    while (line[end] === " " || line[end] === "\t") end++;
  }
  return end === 0 ? line.length : end;
}

/** Returns whether a line has text outside of comments, and whether a comment in braces is open at its end. Braces do not nest. */
function outsideComments(line: string, isOpen: boolean): { readonly hasText: boolean; readonly isInComment: boolean } {
  let [hasText, isInComment, from] = [false, isOpen, 0];
  while (from < line.length) {
    if (isInComment) {
      const end = line.indexOf("}", from);
      if (end < 0) break;
      [isInComment, from] = [false, end + 1];
    } else {
      const [comment = ""] = /[{;]/.exec(line.slice(from)) ?? [];
      const end = comment === "" ? line.length : line.indexOf(comment, from);
      hasText ||= line.slice(from, end).trim() !== "";
      if (comment !== "{") break;
      [isInComment, from] = [true, end + 1];
    }
  }
  return { hasText, isInComment };
}

/** Parses a game as an opening: the position of its tag FEN and its first `plies` moves. The game is read up to these moves only. */
function pgnOpening({ line, text }: BookEntry, plies = MAX_PLIES + 1): Result<Opening, string> {
  const fault = (offset: number, reason: string): Result<never, string> =>
    err(`line ${line + (text.slice(0, offset).match(/\r\n?|\n/g)?.length ?? 0)}: ${reason}`);
  const game = tokensIn(text);
  const { FEN, Opening: name, Variant = "standard" } = game.tags;
  if (!VARIANTS.test(Variant)) return fault(0, `the variant ${Variant} is not chess`);
  const start = FEN === undefined ? ok(DEFAULT_POSITION) : bookPosition(FEN.trim().split(/\s+/));
  if (!start.ok) return fault(0, `FEN: ${start.error}`);
  const board = new Chess(start.value);
  const moves: string[] = [];
  for (const { word, offset } of game.moves) {
    if (moves.length >= plies) break;
    const uci = NULL_MOVE.test(word) ? null : played(board, word);
    if (uci === null)
      return fault(
        offset,
        NULL_MOVE.test(word) ? "a null move is not a move of chess" : `Invalid move in PGN: ${word}`,
      );
    moves.push(uci);
  }
  const options = {
    ...(start.value !== DEFAULT_POSITION && { fen: start.value }),
    ...(moves.length > 0 && { moves: moves.join(" ") }),
  };
  if (options.fen === undefined && options.moves === undefined) return fault(0, "the game has no moves");
  const parsed = chess.options.safeParse(options);
  if (parsed.success) return ok({ name: name && name !== "?" ? name : null, options });
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return fault(0, faults.join("; "));
}

const UCI = /^([a-h][1-8])-?([a-h][1-8])=?([qrbn])?$/i;

/** Makes the move that a text names, and returns it in UCI; null if it names no legal move or several. */
function played(board: Chess, word: string): string | null {
  try {
    return board.move(word, { strict: true }).lan;
  } catch {
    // Not the standard form: more or fewer letters than necessary, "0-0", "e2-e4", "a8=q", or the move in UCI.
    const [, from = "", to = "", promotion = ""] = UCI.exec(word) ?? [];
    const lan = uciOfSan(board.fen(), word) ?? (from + to + promotion).toLowerCase();
    const move = board.moves({ verbose: true }).find((one) => one.lan === lan);
    return move ? board.move(move).lan : null;
  }
}

interface Word {
  readonly word: string;
  readonly offset: number;
}

/** Spaces, comments, lines for other programs, annotations and move numbers. */
const IGNORED =
  /\s+|;[^\r\n]*|\{[^}]*\}?|\$\d*|<[^>]*>?|(?!0000(?![^\s(){};]))\d+(?:\s*\.+|(?=[\s(){};]|$))|\.+|e\.p\.|[)\]}]/y;
const RESULT = /(?:1-0|0-1|1\/2(?:-1\/2)?|½-½|\*)(?=[\s(){};]|$)/y;
const WORD = /[^\s(){};$<>[\]*]+/y;
const NULL_MOVE = /^(--|Z0|@@@@|0000|null|pass)$/i;
/** Signs after a move, such as "!?", "+-" and "±". */
const SIGNS = /(?:\+\/?[-=]|[-=]\/?\+|[!?+#=±∓⩲⩱∞□⨀⌓])+$/u;
/** The remark "en passant" after a move. */
const EN_PASSANT = /(?<=[1-8])e\.?p\.?$/i;
/** The sign of a novelty, directly after a move. On the first and last rank N is a promotion. */
const NOVELTY = /(?<=[2-7][+#!?]*)T?N$/;
/** The novelty and other words of annotators. */
const ANNOTATION = /^(N|TN|RR|D)$/;

/** Returns the tags of a game, and its moves as they are written, without variations. The moves are found when they are asked for. */
function tokensIn(text: string): { readonly tags: Readonly<Record<string, string>>; readonly moves: Iterable<Word> } {
  const tags: Record<string, string> = Object.create(null);
  let at = 0;
  const skip = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const isAtLine = (): boolean => at === 0 || /[\r\n]/.test(text[at - 1] ?? "");
  const skipIgnored = (): boolean => (text[at] === "%" && isAtLine() ? skip(/[^\r\n]*/y) : skip(IGNORED)) !== null;
  while (at < text.length) {
    if (skipIgnored()) continue;
    const tag = skip(TAG);
    if (tag?.[1] !== undefined) tags[tag[1]] ??= (tag[2] ?? "").replaceAll(/\\(["\\])/g, "$1");
    else if (text[at] !== "[" || skip(/[^\r\n]+/y) === null) break;
  }
  function* moves(): Generator<Word> {
    let depth = 0;
    while (at < text.length) {
      if (text[at] === "(" || text[at] === ")") {
        depth = Math.max(0, depth + (text[at++] === "(" ? 1 : -1));
        continue;
      }
      if (skipIgnored()) continue;
      const offset = at;
      if (skip(RESULT)) {
        if (depth === 0) return;
        continue;
      }
      const [found = ""] = skip(WORD) ?? [];
      if (found === "") at++;
      const word = found.replace(NOVELTY, "").replace(SIGNS, "").replace(EN_PASSANT, "");
      if (depth === 0 && word !== "" && !ANNOTATION.test(word)) yield { word, offset };
    }
  }
  return { tags, moves: moves() };
}

/** A line of a book. Its characters are the bytes of the file, as in Latin-1. */
interface BookLine {
  /** The offset of its first byte. */
  readonly start: number;
  /** Its number, from 1. */
  readonly number: number;
  readonly text: string;
}

/** A longer line is returned in parts, so that a file without line ends is not in memory as a whole. */
const MAX_LINE = 1_000_000;
/** A byte order mark in UTF-8, as Latin-1. */
const BYTE_ORDER_MARK = "\xEF\xBB\xBF";

/** Returns the lines of a file, which end with CR LF, LF or CR. A byte order mark is not part of the first line. */
function* linesIn(pieces: Iterable<Uint8Array>): Generator<BookLine> {
  let [rest, start, number] = ["", 0, 1];
  for (const piece of pieces) {
    const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
    let from = start === 0 && text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    const ends = /\r\n|\n|\r(?!$)/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      yield { start: start + from, number, text: text.slice(from, end.index) };
      number++;
      from = ends.lastIndex;
    }
    if (text.length - from > MAX_LINE) {
      yield { start: start + from, number, text: text.slice(from) };
      from = text.length;
    }
    rest = text.slice(from);
    start += from;
  }
  if (rest !== "") yield { start, number, text: rest.replace(/\r$/, "") };
}
