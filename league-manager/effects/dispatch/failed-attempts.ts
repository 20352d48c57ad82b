import type { Commit } from "../../ledger.ts";

/**
 * The referees that have failed a match: they aborted it, rejected it or did not complete it in time. Other referees are preferred for the match. A
 * referee that was down has not failed: otherwise a match could wait for a busy referee while this one is free. The failures are in memory only, so
 * after a restart a match may be assigned to such a referee again. The number of aborts of a match is part of the league's state.
 */
export class FailedAttempts {
  /** Referee ids by league id and match id. */
  readonly #failed = new Map<string, Map<string, Set<string>>>();

  onCommit({ events }: Commit): void {
    for (const committed of events) {
      if (committed.kind !== "league") continue;
      const { leagueId, event } = committed;
      if (event.type === "match_released" && event.reason !== "unreachable") {
        this.#add(leagueId, event.match_id, event.referee_id);
      }
      if (event.type === "match_completed" || event.type === "match_aborted") {
        this.#failed.get(leagueId)?.delete(event.match_id);
      }
    }
  }

  has(leagueId: string, matchId: string, refereeId: string): boolean {
    return this.#failed.get(leagueId)?.get(matchId)?.has(refereeId) === true;
  }

  #add(leagueId: string, matchId: string, refereeId: string): void {
    const byMatch = this.#failed.get(leagueId) ?? new Map<string, Set<string>>();
    this.#failed.set(leagueId, byMatch);
    byMatch.set(matchId, (byMatch.get(matchId) ?? new Set()).add(refereeId));
  }
}
