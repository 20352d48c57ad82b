import { Chess, DEFAULT_POSITION } from "chess.js";
import { inOneLine } from "../../lib/text.ts";

/** A result in PGN. `*` also stands for a game without a winner and without a draw: an abort, or a forfeit of both sides. */
export type PgnResult = "1-0" | "0-1" | "1/2-1/2" | "*";

/** The values of the tag Termination (PGN standard, 9.8.1). */
export type PgnTermination =
  | "abandoned"
  | "adjudication"
  | "normal"
  | "rules infraction"
  | "time forfeit"
  | "unterminated";

export interface PgnMove {
  /** The move in UCI, as the log of a session has it. */
  readonly uci: string;
  /** The time on the mover's clock after the move, in milliseconds. */
  readonly clockMs?: number;
  /** The mover's evaluation of the position after the move, from its own point of view, in hundredths of a pawn or moves to mate. */
  readonly score?: { readonly unit: "cp" | "mate"; readonly value: number };
}

/** The data of a game for `pgnOf`. Texts are untrusted input. */
export interface PgnGame {
  readonly event: string;
  readonly site?: string;
  /** The time of the start, ISO 8601 in UTC; null if it is not known. */
  readonly startedAt: string | null;
  readonly round: string;
  readonly white: string;
  readonly black: string;
  readonly result: PgnResult;
  readonly termination: PgnTermination;
  /** The initial time and the increment of both clocks; null for a game without clocks. */
  readonly timeControl: { readonly initialMs: number; readonly incrementMs: number } | null;
  /** The position in which the game begins; default: the initial position. */
  readonly fen?: string;
  readonly moves: readonly PgnMove[];
  /** Why the game ended, as a comment before the result; default: no comment. */
  readonly reason?: string;
}

/** Lines of 80 or more characters are discouraged (PGN standard, 4.3). */
const MAX_COLUMNS = 79;

/**
 * Returns a game as PGN text: tags, an empty line, the moves in SAN, and an empty line. Throws if a move is not legal,
 * because the moves of a session are checked when they are made.
 */
export function pgnOf(game: PgnGame): string {
  const tags = tagsOf(game).map(([name, value]) => `[${name} "${tagText(value)}"]\n`);
  return `${tags.join("")}\n${wrapped([...movetext(game), game.result])}\n\n`;
}

/** The seven tags that every game has, in their order, and then other tags in ASCII order (PGN standard, 8.1). */
function tagsOf(game: PgnGame): readonly (readonly [string, string])[] {
  const { event, site = "?", startedAt, round, white, black, result, fen, termination, timeControl } = game;
  return [
    ["Event", event],
    ["Site", site],
    ["Date", startedAt === null ? "????.??.??" : startedAt.slice(0, 10).replaceAll("-", ".")],
    ["Round", round],
    ["White", white],
    ["Black", black],
    ["Result", result],
    ...(fen === undefined || fen === DEFAULT_POSITION ? [] : [["FEN", fen] as const, ["SetUp", "1"] as const]),
    ["Termination", termination],
    ["TimeControl", timeControl === null ? "-" : `${timeControl.initialMs / 1000}+${timeControl.incrementMs / 1000}`],
  ];
}

/**
 * Returns a text as the value of a tag. A backslash is escaped by a backslash (PGN standard, 7). A quotation mark
 * becomes an apostrophe, because many programs, also chess.js, do not read its escape.
 */
function tagText(text: string): string {
  const value = inOneLine(text).replaceAll("\\", "\\\\").replaceAll('"', "'").trim();
  return value === "" ? "?" : value;
}

/**
 * Returns the words of the moves and comments. A line break is allowed between two words only. A move has one comment
 * at most, because chess.js does not read two in a row.
 */
function movetext({ fen = DEFAULT_POSITION, moves, reason = "" }: PgnGame): readonly string[] {
  const board = new Chess(fen);
  let isNumberDue = true;
  const words = moves.flatMap(({ uci, clockMs, score }, index) => {
    const isWhite = board.turn() === "w";
    const number = isWhite ? [`${board.moveNumber()}.`] : isNumberDue ? [`${board.moveNumber()}...`] : [];
    const promotion = uci.slice(4);
    const { san } = board.move({ from: uci.slice(0, 2), to: uci.slice(2, 4), ...(promotion && { promotion }) });
    const evaluation = score === undefined ? [] : [`[%eval ${scoreText(score, isWhite)}]`];
    const clock = clockMs === undefined ? [] : [`[%clk ${clockText(clockMs)}]`];
    const comment = comments([...evaluation, ...clock, ...(index === moves.length - 1 ? readableWords(reason) : [])]);
    // A number before Black's move is due at the beginning and after a comment.
    isNumberDue = comment.length > 0;
    return [...number, san, ...comment];
  });
  return moves.length === 0 ? comments(readableWords(reason)) : words;
}

/** Puts words into a comment. Returns no words for an empty comment. */
const comments = (words: readonly string[]): readonly string[] =>
  words.map((word, index) => `${index === 0 ? "{" : ""}${word}${index === words.length - 1 ? "}" : ""}`);

/** Returns a score from White's point of view, in pawns or as "#3", as other programs write it. */
function scoreText({ unit, value }: NonNullable<PgnMove["score"]>, isWhite: boolean): string {
  const ofWhite = isWhite ? value : -value;
  return unit === "mate" ? `#${ofWhite}` : (ofWhite / 100).toFixed(2);
}

/** Returns a time as hours, minutes and seconds, rounded down to tenths: "0:01:30", "0:00:09.5". */
function clockText(ms: number): string {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  const [hours, minutes, seconds] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60, (tenths / 10) % 60];
  const fraction = tenths % 10 === 0 ? "" : `.${tenths % 10}`;
  return `${hours}:${twoDigits(minutes)}:${twoDigits(seconds)}${fraction}`;
}

const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, "0");

/** Returns the words of a text that cannot end a comment or contain a command such as `[%clk`. Long words are cut. */
function readableWords(text: string): readonly string[] {
  const readable = inOneLine(text).replaceAll("{", "(").replaceAll("}", ")").replaceAll("[%", "[ %").trim();
  // A `%` at the beginning of a line is an escape (PGN standard, 6), so no line may be broken before it.
  const words = readable.replaceAll(/\s+(?=%)/g, NO_BREAK_SPACE).split(/[ \t]+/);
  return readable === "" ? [] : words.map(shortened);
}

const NO_BREAK_SPACE = "\u00a0";
const MAX_WORD = 70;

function shortened(word: string): string {
  const characters = [...word];
  return characters.length <= MAX_WORD ? word : `${characters.slice(0, MAX_WORD).join("")}…`;
}

/** Joins words to lines of at most 79 characters. */
function wrapped(words: readonly string[]): string {
  const lines: string[] = [];
  let [line = "", ...others] = words;
  for (const word of others) {
    if ([...line].length + 1 + [...word].length <= MAX_COLUMNS) line = `${line} ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].join("\n");
}
