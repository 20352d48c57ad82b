import { Chess, DEFAULT_POSITION } from "chess.js";
import { err, ok, type Result } from "../../lib/result.ts";
import { bookPosition, uciOfSan } from "../chess/position.ts";
import { chess } from "../chess.ts";
import type { BookEntry, BookIndex, Opening } from "./book.ts";
import { linesIn } from "./book-lines.ts";

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
export function pgnEntries(pieces: Iterable<Uint8Array>): BookIndex {
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
export function pgnOpening({ line, text }: BookEntry, plies = MAX_PLIES + 1): Result<Opening, string> {
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
