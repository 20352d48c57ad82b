import type { Draft } from "./draft.ts";

/** Removes a player from every open league. */
export function leaveOpenLeagues(draft: Draft, playerId: string): void {
  for (const leagueId of draft.state.leagues.keys()) draft.mustLeague(leagueId, { type: "leave", playerId });
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
