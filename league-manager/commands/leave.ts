import type { Draft } from "./draft.ts";

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

/** Forgets a silent referee, and settles its withdrawals, because it receives no more messages. */
export function dropReferee(draft: Draft, refereeId: string): void {
  for (const { leagueId, withdrawals } of draft.state.leagues.values()) {
    for (const { matchId, epoch } of withdrawals.filter((withdrawal) => withdrawal.refereeId === refereeId)) {
      draft.mustLeague(leagueId, { type: "settle_withdrawal", matchId, epoch, refereeId });
    }
  }
  draft.agent(refereeId, { type: "forget", reason: "silent" });
}
