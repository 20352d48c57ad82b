import type { Operation } from "#shared/rpc/mcp/operations.ts";
import type { GameToolsContext } from "./context.ts";
import { createGame, joinGame } from "./seat-tools.ts";
import { finishTurn, waitForNextTurn } from "./turn-tools.ts";

/** The tools by which agents create, join and play games outside of leagues. */
export const gameOperations = (context: GameToolsContext): readonly Operation<unknown>[] => [
  createGame(context),
  joinGame(context),
  waitForNextTurn(context),
  finishTurn(context),
];
