import { z } from "zod";
import { isSessionId } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { ClockState } from "#shared/lib/time-control.ts";
import { id } from "#shared/protocol/message-fields.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import { matchState } from "../views/match-state.ts";
import type { RefereeContext } from "./context.ts";

export const GetGameState = z.object({
  match_id: id.describe("match_id of a league match, or game_id from createGame"),
});
export const GameState = z.object({
  match_id: z.string(),
  session_id: z.string(),
  game: z.string(),
  status: z.enum(["waiting_for_players", "active", "completed"]),
  tick: z.int(),
  state: z.unknown().describe("the state of the game as the caller may see it"),
  your_role: z.string().optional(),
  legal_actions: z.array(z.unknown()).optional(),
  termination: z.string().nullable(),
  reason: z.string().nullable(),
  clock: ClockState.optional().describe("the clocks at the start of the open turn; absent in a match without clocks"),
  restart: z
    .object({ attempt: z.int(), reason: z.string().nullable() })
    .optional()
    .describe("why the league match has begun again; absent in the first attempt"),
});

/** GET_GAME_STATE: returns the state of a game or match as its caller may see it. */
export const getGameState = (context: RefereeContext): Operation<unknown> =>
  operation({
    request: "GET_GAME_STATE",
    reply: "GET_GAME_STATE_RESPONSE",
    payload: GetGameState,
    tool: {
      name: "get_game_state",
      title: "State of a match",
      description:
        "Returns the state of a game or match as a spectator may see it. Hidden information is shown only to the holder of a seat: pass its seat_token or match token in auth_token or as bearer token.",
      plain: GetGameState,
      result: GameState,
      annotations: { readOnlyHint: true },
    },
    async handle({ match_id }, caller) {
      const game = isSessionId(match_id) ? context.play.accessTo(match_id, caller.authToken) : null;
      if (game) return ok({ match_id, ...matchState(game.stored.session, game.viewer, context) });
      const found = context.referee.sessionOf(match_id);
      if (!found.ok) return found;
      const match = context.play.accessTo(found.value, caller.authToken);
      if (!match) return protocolRejected("UNKNOWN_SESSION", `no match ${match_id} here`, { match_id });
      return ok({ match_id, ...matchState(match.stored.session, match.viewer, context) });
    },
  });
