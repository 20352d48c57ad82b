import { Chess } from "chess.js";
import { DRAW } from "./chess/draw-offers.ts";
import { type Game, spoken } from "./game.ts";
import { wordOf } from "./read-move.ts";

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
