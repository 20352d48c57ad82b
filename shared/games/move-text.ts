import { isDeepStrictEqual } from "node:util";
import { Chess } from "chess.js";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { DRAW } from "./chess/terms.ts";
import { type Game, type Role, spoken } from "./game.ts";

/**
 * Reads a move that a person or an LLM has written. Returns an action of the game, or the move itself if it is not one,
 * which `applyAction` then rejects.
 */
export function readMove(game: Game, view: unknown, role: Role, move: unknown): unknown {
  if (typeof move !== "string") return move;
  const text = move.trim();
  for (const form of new Set([text, withoutMarks(text)])) {
    const isSame = (action: unknown): boolean => wordOf(action, game).toLowerCase() === form.toLowerCase();
    const action = game.readAction?.(view, form) ?? game.legalActions(view, role).find(isSame) ?? null;
    if (action !== null) return action;
  }
  return parsedJson(text) ?? text;
}

/** The longest text from which marks are removed, in characters. */
const MAX_MARKED = 100;

/** Returns a short text without the quotes and the marks of Markdown around it, and without its full stop: `**e4**` is `e4`. */
const withoutMarks = (text: string): string =>
  text.length > MAX_MARKED ? text : text.replace(/^[\s"'`*_]+|[\s"'`*_.]+$/g, "");

/** Returns the reason why the text of a move is not legal; null if the game has no explanation. */
export const explainIllegal = (game: Game | undefined, state: unknown, move: unknown): string | null =>
  (typeof move === "string" && game?.explainIllegal?.(state, withoutMarks(move.trim()))) || null;

/**
 * Returns the title of a list of legal moves. If the list may be a sample, the title says so, because readers could
 * take it for complete.
 */
export const listName = (game: Game | undefined): string =>
  game?.info.listsSample ? "Legal moves, or some of them" : "Legal moves";

/** Returns an action as text: itself if it is text, otherwise by the game's `actionText`, otherwise as JSON. */
export function wordOf(action: unknown, game?: Game): string {
  if (typeof action === "string") return action;
  const parsed = game?.actionText && game.action.safeParse(action);
  return parsed?.success ? (game?.actionText?.(parsed.data) ?? "") : JSON.stringify(action);
}

/** A turn of a player: its view and its legal actions. */
interface OwnTurn {
  readonly view: unknown;
  readonly role: Role;
  readonly legal: readonly unknown[];
}

/**
 * Reads a move for a turn and checks it against the legal actions. Returns the action, or a text with the reason and the
 * legal moves. If the list of legal actions is only a sample, the referee decides whether another action is legal.
 */
export function legalMove(
  game: Game | undefined,
  { view, role, legal }: OwnTurn,
  move: unknown,
): Result<unknown, string> {
  const action = game ? readMove(game, view, role, move) : move;
  const isUnlisted = game?.info.listsSample === true && game.action.safeParse(action).success;
  if (isUnlisted || legal.some((legalAction) => isDeepStrictEqual(legalAction, action))) return ok(action);
  const named = legal.map((legalAction) => wordOf(legalAction, game)).join(", ");
  const reason = explainIllegal(game, view, move);
  return err(`Illegal move ${wordOf(move, game)}${reason ? `: ${reason}` : ""}. ${listName(game)}: ${named}`);
}

/** Returns an action as people write it in a list of moves: SAN in chess, "Nf3". `before` is the state or a view before it. */
export function moveText(game: Game, before: unknown, action: unknown): string {
  if (game.id === "chess.v1" && typeof action === "string") return chessText((before as { fen: string }).fen, action);
  return spoken(wordOf(action, game));
}

function chessText(fen: string, action: string): string {
  if (action === DRAW) return "draw agreed";
  const [move = "", ...additions] = action.split(" ");
  const san = new Chess(fen).move({ from: move.slice(0, 2), to: move.slice(2, 4), promotion: move.slice(4) }).san;
  return additions.includes(DRAW) ? `${san} (draw?)` : san;
}
