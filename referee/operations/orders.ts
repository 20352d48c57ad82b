import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf, ok } from "#shared/lib/result.ts";
import * as messages from "#shared/protocol/messages.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { protocolRejected, protocolResult, rejected } from "../sessions/rejections.ts";
import { isManager, type RefereeContext } from "./context.ts";
import { matchOf, orderOf, StartGame, StartGameByPlayers } from "./start-game.ts";

/** START_GAME: starts a match for the league manager. */
export const startGame = (context: RefereeContext): Operation<unknown> =>
  operation({
    request: "START_GAME",
    reply: "START_GAME_RESPONSE",
    payload: messages.StartGame as z.ZodType<StartGame>,
    tool: {
      name: "start_game",
      title: "Start a match",
      description:
        "Starts a match between two players. Only the league manager can call it: auth_token is its signature for this match. Repeating a call with the same league_id, match_id and epoch starts nothing new and returns the same session.",
      plain: StartGame,
      input: StartGameByPlayers,
      result: z.object({ status: z.literal("ACCEPTED"), match_id: z.string(), session_id: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    },
    async handle(input, caller) {
      const running = context.referee.running();
      const ref = matchOf(input, running);
      if (!isManager(context, caller.authToken ?? "", ref)) {
        const message = "start_game is accepted only from this referee's league manager";
        return protocolRejected("NOT_PERMITTED", message, { match: ref });
      }
      const completed = orderOf(input, running, context.identity.token ?? "");
      if (!completed.ok) return protocolResult(completed);
      const order = completed.value;
      const fault = faultOfOrder(order, ref);
      if (fault) return protocolResult(fault);
      // Nothing is awaited between this check and the start, so orders that arrive together do not exceed the limit.
      const active = context.referee.activeMatches();
      if (active.size >= context.maxConcurrentMatches && !active.has(ref)) {
        const message = "this referee already plays its maximum number of matches";
        return protocolRejected("TOO_MANY_MATCHES", message, { match: ref });
      }
      const started = await context.referee.start(order);
      return started.ok ? ok({ status: "ACCEPTED", ...started.value }) : started;
    },
  });

/** MATCH_WITHDRAWN: stops a match that the league manager has assigned to another referee. */
export const matchWithdrawn = (context: RefereeContext): Operation<unknown> =>
  operation({
    request: "MATCH_WITHDRAWN",
    reply: "ACK",
    payload: messages.MatchWithdrawn,
    handle({ league_id, match_id, epoch }, caller) {
      if (!isManager(context, caller.authToken ?? "", matchRef(league_id, match_id))) {
        return protocolRejected("NOT_PERMITTED", "only this referee's league manager can withdraw a match");
      }
      context.referee.withdraw(league_id, match_id, epoch);
      return ok({});
    },
  });

/** The rejection of an order that cannot be played; null if it can be played. */
function faultOfOrder(order: messages.StartGame, ref: string): ReturnType<typeof rejected> | null {
  const invalid = (message: string) => rejected("INVALID_ORDER", message, { match: ref });
  const game = findGame(order.game);
  if (!game) return rejected("UNKNOWN_GAME", `unknown game ${order.game}`, { match: ref });
  const roles = Object.keys(order.roles);
  if (roles.length !== game.roles.length || !game.roles.every((role) => roles.includes(role))) {
    return invalid(`${order.game} is played by ${game.roles.join(" and ")}`);
  }
  if (new Set(Object.values(order.roles).map((player) => player.match_token)).size < roles.length) {
    return invalid("each player needs a different match token");
  }
  const options = game.options.safeParse(order.options ?? {});
  return options.success ? null : invalid(`options: ${messageOf(options.error)}`);
}
