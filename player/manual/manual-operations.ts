import { z } from "zod";
import { equalSecrets } from "#shared/lib/hash.ts";
import { err, ok } from "#shared/lib/result.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { agentStates } from "#shared/protocol/lifecycle.ts";
import { type Caller, operation } from "#shared/rpc/mcp/operations.ts";
import type { Identity } from "../identity.ts";
import type { Player } from "../matches/player.ts";
import type { NotificationLog } from "../notifications.ts";
import { MakeMove } from "./make-move.ts";
import type { ManualBot } from "./manual-bot.ts";

/** The operations of the tools of a player (PROTOCOL.md, section 4). `manual` is null if a bot makes the moves. */
export function manualOperations(
  player: Player,
  manual: ManualBot | null,
  identity: Pick<Identity, "token" | "name">,
  notifications: Pick<NotificationLog, "facts">,
) {
  const isOwner = ({ authToken }: Caller): boolean =>
    identity.token !== null && authToken !== null && equalSecrets(identity.token, authToken);
  /** Callers that may see the open requests and answer them: programs on the player's machine, and remote callers with its token. */
  const mayMove = (caller: Caller): boolean => isLoopback(caller.remoteAddress) || isOwner(caller);
  return [
    operation({
      request: "MAKE_MOVE",
      reply: "MAKE_MOVE_RESPONSE",
      payload: MakeMove,
      tool: {
        name: "make_move",
        title: "Make a move",
        description:
          "Answers the move request that is open, for a player run by hand (--bot manual). Call get_my_state first: it lists the open requests with their legal actions. An illegal move is rejected and the request stays open.",
        plain: MakeMove,
        result: z.object({
          status: z.literal("SENT"),
          game: z.string(),
          your_role: z.string(),
          tick: z.int(),
          move: z.unknown(),
        }),
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle({ move, match_id }, caller) {
        if (!manual) return err(protocolError("G004", "this player's bot decides its own moves"));
        if (!mayMove(caller))
          return err(protocolError("L004", "a caller on another machine needs this player's token"));
        return manual.makeMove(move, match_id ?? null);
      },
    }),
    operation({
      request: "GET_MY_STATE",
      reply: "GET_MY_STATE_RESPONSE",
      payload: z.object({}),
      tool: {
        name: "get_my_state",
        title: "My state",
        description:
          "Returns the player's identity and state in the league (player_id, name, state, points), its matches, its last result and, for a player run by hand, the open move requests with the view of the game, the legal actions and the deadline. Answer them with make_move.",
        plain: z.object({}),
        result: z.looseObject({
          player_id: z.string().nullable().describe("null until the league manager or a referee has sent it"),
          name: z.string(),
          state: z.enum(agentStates).describe("its lifecycle state in the league, as of the last round"),
          points: z.number().describe("sum over all its leagues"),
          leagues: z.array(z.object({ league_id: z.string(), points: z.number(), rank: z.int().nullable() })),
          bot: z.string(),
          matches_begun: z.int(),
          matches_won: z.int(),
          asked: z
            .array(z.looseObject({}))
            .optional()
            .describe("the open move requests, oldest first; make_move answers them"),
        }),
        annotations: { readOnlyHint: true },
      },
      handle: (_, caller) =>
        ok({
          ...notifications.facts(),
          name: identity.name,
          ...player.state(isOwner(caller)),
          ...(manual && mayMove(caller) && { asked: manual.asked() }),
        }),
    }),
  ];
}
