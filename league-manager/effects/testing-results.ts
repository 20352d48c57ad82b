import { findGame } from "#shared/games/registry.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { outcomeOf } from "#shared/session/match-result.ts";
import { type Command, create, decide } from "#shared/session/session.ts";
import { rowsOf } from "#shared/session/testing-rows.ts";

const AT = "2026-01-01T00:00:00.000Z";

/** The result that a referee reports of a match after these commands to its session. */
function resultOf(order: StartGame, commands: readonly Command[]): MatchResult {
  const game = findGame(order.game);
  if (!game) throw new Error(`no game ${order.game}`);
  const players = Object.fromEntries(Object.entries(order.roles).map(([role, seat]) => [role, seat.player_id]));
  const options = game.options.parse(order.options);
  const created = create({ id: "s", game, options, participants: players, seed: order.seed, at: AT });
  const log = [JSON.stringify(created.entry)];
  let session = created.next;
  for (const command of commands) {
    const decided = decide(session, command, AT);
    if (!decided.ok) throw new Error(decided.error.message);
    session = decided.value.next;
    log.push(JSON.stringify(decided.value.entry));
  }
  const { league_id, round_id, match_id, epoch } = order;
  const head = rowsOf("s", log).at(-1)?.hash ?? "";
  return { league_id, round_id, match_id, epoch, ...outcomeOf(session, head, players), log };
}

const act = (role: string, action: string): Command => ({ type: "act", role, action, expectedTick: null });

/** Rock against scissors. */
export const played = (order: StartGame): MatchResult =>
  resultOf(order, [act("player_1", "rock"), act("player_2", "scissors")]);

/** Aborted through no fault of its players. */
export const aborted = (order: StartGame): MatchResult => resultOf(order, [{ type: "abort", reason: "our fault" }]);

/** Lost by a player that did not answer. */
export function timedOut(order: StartGame, playerId: string): MatchResult {
  const role = Object.entries(order.roles).find(([, seat]) => seat.player_id === playerId)?.[0] ?? "";
  return resultOf(order, [
    { type: "forfeit", faults: [{ role, code: "G002", cause: "timeout", detail: "no answer" }] },
  ]);
}
