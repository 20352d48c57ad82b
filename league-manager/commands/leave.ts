import { err } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { currentMatches } from "../league/league.ts";
import type { Decide } from "../ledger.ts";
import { Draft } from "./draft.ts";

/** Removes a player from every open league. */
export function leaveOpenLeagues(draft: Draft, playerId: string): void {
  for (const { leagueId, status } of draft.state.leagues.values()) {
    if (status === "open") draft.mustLeague(leagueId, { type: "leave", playerId });
  }
}

/** Records in its running leagues that a player is shut down, so that their formats pair it no more. */
export function leaveRunningLeagues(draft: Draft, playerId: string): void {
  const { leagues, agents } = draft.state;
  const player = agents.get(playerId);
  if (player?.state !== "SHUTDOWN") return;
  for (const { leagueId, status } of leagues.values()) {
    if (status === "running") draft.mustLeague(leagueId, { type: "leave", playerId, agentVersion: player.version });
  }
}

/**
 * Removes a referee at its own request, after it has stopped its matches. They are released, so that other referees get them in the next pass. Rejects
 * an unknown referee with L004.
 */
export const leaveReferee =
  (refereeId: string): Decide<{ readonly released: number }> =>
  (state, at) => {
    if (state.agents.get(refereeId)?.kind !== "referee") {
      return err(protocolError("L004", `no referee ${refereeId} is registered`, { referee_id: refereeId }));
    }
    const draft = new Draft(state, at);
    let released = 0;
    for (const league of state.leagues.values()) {
      for (const { matchId, epoch, status, refereeId: assigned } of currentMatches(league)) {
        if (status !== "assigned" || assigned !== refereeId) continue;
        const detail = `referee ${refereeId} has left`;
        draft.mustLeague(league.leagueId, { type: "release", matchId, epoch, reason: "unreachable", detail });
        released++;
      }
    }
    dropReferee(draft, refereeId, "left");
    return draft.decision({ released });
  };

/** Forgets a referee that is silent or has left, and settles its withdrawals, because it receives no more messages. */
export function dropReferee(draft: Draft, refereeId: string, reason: "silent" | "left"): void {
  for (const { leagueId, withdrawals } of draft.state.leagues.values()) {
    for (const { matchId, epoch } of withdrawals.filter((withdrawal) => withdrawal.refereeId === refereeId)) {
      draft.mustLeague(leagueId, { type: "settle_withdrawal", matchId, epoch, refereeId });
    }
  }
  draft.agent(refereeId, { type: "forget", reason });
}
