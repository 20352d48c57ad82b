import type { Role } from "#shared/games/game.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { Play } from "../play.ts";
import type { Turns } from "../turns.ts";

/** The URI of the board as an MCP App, which MCP hosts show with the tools that refer to it. */
export const BOARD_URI = "ui://agent-league/board";
/** The `_meta` of the tools that show the board. */
export const BOARD = { ui: { resourceUri: BOARD_URI } };

/** The parts that the tools for games outside of leagues use. */
export interface GameToolsContext {
  readonly play: Play;
  readonly turns: Turns;
  readonly botNames: readonly string[];
  /** Creates the board as a separate page, which posts `{type: "action", action: "finishTurn", payload}` to the window that frames it. */
  readonly embeddedBoard: (view: GameView, seat: { role: Role; token: string } | null) => Promise<string>;
}
