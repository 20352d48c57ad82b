import { ok } from "#shared/lib/result.ts";
import * as announcements from "#shared/protocol/messages.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import { isManager, type RefereeContext } from "./context.ts";
import { getGameState } from "./game-state.ts";
import { matchWithdrawn, startGame } from "./orders.ts";
import { validateMove } from "./validate-move.ts";

/** The operations of a referee for its league manager and for players (PROTOCOL.md, section 4). */
export const refereeOperations = (context: RefereeContext): readonly Operation<unknown>[] => [
  startGame(context),
  matchWithdrawn(context),
  validateMove(context),
  getGameState(context),
];

/** Tools and messages that create a game. */
export const GAME_CREATIONS: ReadonlySet<string> = new Set([
  "createGame",
  "CREATE_GAME",
  "create_new_game",
  "CREATE_NEW_GAME",
]);

/** Notifications of the manager that a referee acknowledges and does not act on. */
export const notificationOperations = (context: RefereeContext) => [
  operation({
    request: "ROUND_ANNOUNCEMENT",
    reply: "ACK",
    payload: announcements.RoundAnnouncement,
    /** Rejects a wrong signature, so that the manager finds out whether the referee that it means is at this endpoint. */
    handle: ({ league_id }, caller) =>
      isManager(context, caller.authToken ?? "", league_id)
        ? ok({})
        : protocolRejected("NOT_PERMITTED", "this announcement is not signed for this referee"),
  }),
  operation({ request: "ROUND_START", reply: "ACK", payload: announcements.RoundStart, handle: () => ok({}) }),
  operation({ request: "ROUND_END", reply: "ACK", payload: announcements.RoundEnd, handle: () => ok({}) }),
  operation({
    request: "LEAGUE_STANDINGS_UPDATE",
    reply: "ACK",
    payload: announcements.StandingsUpdate,
    handle: () => ok({}),
  }),
];
