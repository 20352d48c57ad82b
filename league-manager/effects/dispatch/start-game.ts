import { matchRef } from "#shared/lib/ids.ts";
import { invariant } from "#shared/lib/result.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Timeouts } from "#shared/protocol/timeouts.ts";
import type { Agent } from "../../agents/agent.ts";
import { currentMatches, type League, type Match } from "../../league/league.ts";
import type { ManagerState } from "../../ledger.ts";

/** The seed of a match under its current epoch. */
export type SeedOf = (league: League, match: Match) => string;

/** The payload of START_GAME for a match. */
export function startGameOf(
  { agents }: ManagerState,
  league: League,
  match: Match,
  seedOf: SeedOf,
  { join_ms, move_ms, game_over_ms }: Timeouts,
): StartGame {
  const ref = matchRef(league.leagueId, match.matchId);
  const seats = league.roles.map((role, index): [string, StartGame["roles"][string]] => {
    const player = agents.get(match.players[index] ?? "");
    invariant(player, `${ref} has a registered player as ${role}`);
    return [role, seatOf(player, ref)];
  });
  return {
    league_id: league.leagueId,
    round_id: match.roundId,
    match_id: match.matchId,
    epoch: match.epoch,
    run_id: league.runId,
    game: league.game,
    options: league.options,
    seed: seedOf(league, match),
    roles: Object.fromEntries(seats),
    timeouts: { join_ms, move_ms, game_over_ms },
  };
}

/** The payloads of START_GAME for all matches that are assigned to a referee. */
export function startGamesOf(
  state: ManagerState,
  refereeId: string,
  seedOf: SeedOf,
  timeouts: Timeouts,
): readonly StartGame[] {
  return [...state.leagues.values()].flatMap((league) => {
    const assigned = currentMatches(league).filter(
      (match) => match.status === "assigned" && match.refereeId === refereeId,
    );
    return assigned.map((match) => startGameOf(state, league, match, seedOf, timeouts));
  });
}

const seatOf = (player: Agent, ref: string): StartGame["roles"][string] => ({
  player_id: player.id,
  endpoint: player.endpoint,
  dialect: player.dialect,
  match_token: signFor(player.tokenHash, ref),
  legal_actions: player.wantsLegalActions,
  round_results: player.wantsRoundResults,
  batch: player.takesBatches,
});
