import { findGame } from "#shared/games/registry.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { act, playSession } from "#shared/session/testing/play.ts";

const AT = "2026-01-01T00:00:00.000Z";

/** The result of a match after these commands to its session, as its referee reports it. */
export function resultOf(order: StartGame, commands: readonly Command[]): MatchResult {
  const game = findGame(order.game);
  if (!game) throw new Error(`no game ${order.game}`);
  const players = Object.fromEntries(Object.entries(order.roles).map(([role, seat]) => [role, seat.player_id]));
  const options = game.options.parse(order.options);
  const { league_id, round_id, match_id, epoch } = order;
  const participants = participantsOf({ league_id, match_id, roles: players });
  const setup = { id: "s", game, options, participants, seed: order.seed, at: AT };
  const { session, log, head } = playSession(setup, commands);
  return { league_id, round_id, match_id, epoch, ...outcomeOf(session, head, players), log };
}

/** The result of a match that player_1 wins with rock against scissors. */
export const played = (order: StartGame): MatchResult =>
  resultOf(order, [act("player_1", "rock"), act("player_2", "scissors")]);

/** The result of a match that player_1 loses with scissors against rock. */
export const lost = (order: StartGame): MatchResult =>
  resultOf(order, [act("player_1", "scissors"), act("player_2", "rock")]);

/** The result of a match that the referee aborted. */
export const aborted = (order: StartGame): MatchResult => resultOf(order, [{ type: "abort", reason: "our fault" }]);

/** The result of a match that a player lost because it did not answer. */
export function timedOut(order: StartGame, playerId: string): MatchResult {
  const role = Object.entries(order.roles).find(([, seat]) => seat.player_id === playerId)?.[0] ?? "";
  return resultOf(order, [
    { type: "forfeit", faults: [{ role, code: "G002", cause: "timeout", detail: "no answer" }] },
  ]);
}
