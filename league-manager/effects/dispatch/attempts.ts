import type { Commit } from "../../ledger.ts";

/**
 * The referees with which a match has failed: they aborted it, rejected it or did not end it in time. A match waits for a referee with which it
 * has not failed. A referee that was down and is back has not failed: otherwise a match could wait for a full referee while that one is free.
 * Kept in memory only: after a restart a match may be assigned to such a referee once more. If it fails again, it goes to another one then; how
 * often a match is aborted is counted in the league's state.
 */
export class FailedAttempts {
  /** League id, then match id, to referee ids. */
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
    const ofLeague = this.#failed.get(leagueId) ?? new Map<string, Set<string>>();
    this.#failed.set(leagueId, ofLeague);
    ofLeague.set(matchId, (ofLeague.get(matchId) ?? new Set()).add(refereeId));
  }
}
