import { parsedJson } from "../lib/text.ts";
import type { Game, Role } from "./game.ts";

/** A move as a person or an LLM wrote it, as an action of the game; what names none is returned as it is, to be refused. */
export function readMove(game: Game, view: unknown, role: Role, move: unknown): unknown {
  if (typeof move !== "string") return move;
  const text = move.trim();
  const named = game.readAction?.(view, text) ?? null;
  if (named !== null) return named;
  const legal = game.legalActions(view, role);
  const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
  return legal.find((action) => same(wordOf(action, game), text)) ?? parsedJson(text) ?? text;
}

/** What is wrong with the text of a move that is not legal; null if the game has no explanation. */
export const whyUnread = (game: Game | undefined, state: unknown, move: unknown): string | null =>
  (typeof move === "string" && game?.whyUnread?.(state, move.trim())) || null;

/** What a list of legal moves is called: where it may be a sample, nobody shall take it for all there is. */
export const listName = (game: Game | undefined): string =>
  game?.info.listsSample ? "Legal moves, or some of them" : "Legal moves";

/** An action as text: itself if it is text, else by the game's `actionText`, else as JSON. */
export function wordOf(action: unknown, game?: Game): string {
  if (typeof action === "string") return action;
  const parsed = game?.actionText && game.action.safeParse(action);
  return parsed?.success ? (game?.actionText?.(parsed.data) ?? "") : JSON.stringify(action);
}
