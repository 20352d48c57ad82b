import type { Operation } from "#shared/rpc/mcp/operations.ts";
import type { GameToolsDesk } from "./desk.ts";
import { createGame, joinGame } from "./seat-tools.ts";
import { finishTurn, waitForNextTurn } from "./turn-tools.ts";

/** The tools by which agents create, join and play games outside of leagues. */
export const gameOperations = (desk: GameToolsDesk): readonly Operation<unknown>[] => [
  createGame(desk),
  joinGame(desk),
  waitForNextTurn(desk),
  finishTurn(desk),
];
