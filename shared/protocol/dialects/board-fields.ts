import { withoutVersion } from "../../games/game.ts";
import type { MoveRequest } from "../messages.ts";

/** Returns the board of tic-tac-toe and Connect Four as rows of cells, as other programs expect it; nothing for other games. */
export function boardFields(game: string, { game_state, your_role }: MoveRequest): object {
  const { board } = (game_state ?? {}) as { readonly board?: unknown };
  const isBoardGame = ["tic_tac_toe", "connect_four"].includes(withoutVersion(game));
  if (!isBoardGame || !Array.isArray(board)) return {};
  const rows = board.map((row) => [...String(row)].map((cell) => (cell === "." ? "" : cell.toUpperCase())));
  return { board: rows, your_mark: your_role.slice(0, 1).toUpperCase() };
}
