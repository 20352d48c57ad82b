import { matchRef } from "#shared/lib/ids.ts";
import { type FaultCause, faultCauses } from "#shared/session/entry.ts";
import { type LeagueEvent, releaseReasons } from "../league/events.ts";
import { matchOf } from "../league/evolve.ts";
import { type League, roundOf, type Termination } from "../league/league.ts";
import type { Commit, Ledger } from "../ledger.ts";
import { Counts, counter, Durations, type MetricFamily } from "./families.ts";

const DURATION_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];
const CAUSES: ReadonlySet<string> = new Set(faultCauses);

/** Counts what the commits of the run say about its matches, since the start of this manager. */
export class MatchFigures {
  readonly #ended = new Counts<Termination | "cancelled" | "annulled">("termination", [
    ...(["normal", "forfeit", "aborted", "cancelled", "annulled"] as const),
  ]);
  readonly #released = new Counts("reason", releaseReasons);
  /** A cause is a text of a referee, so an unknown one gets no label of its own. */
  readonly #faults = new Counts<FaultCause | "other">("cause", [...faultCauses, "other"]);
  readonly #waits = new Durations(DURATION_BOUNDS_S);
  readonly #latencies = new Durations(DURATION_BOUNDS_S);
  /** The time at which a match could be assigned, if that is not the opening of its round. Has only matches that are not over. */
  readonly #readyAtMs = new Map<string, number>();
  #commits = 0;
  #events = 0;

  constructor(ledger: Pick<Ledger, "onCommit">) {
    ledger.onCommit((commit) => this.#onCommit(commit));
  }

  families(): readonly MetricFamily[] {
    return [
      counter("league_commits_total", "Commits of the run that this manager has applied.", this.#commits),
      counter("league_events_total", "Events of these commits.", this.#events),
      counter("league_matches_ended_total", "Matches that have ended, by termination.", this.#ended.samples()),
      counter(
        "league_matches_released_total",
        "Matches that were taken from their referee and are played again, by reason.",
        this.#released.samples(),
      ),
      counter("league_faults_total", "Faults of players in completed matches, by cause.", this.#faults.samples()),
      this.#waits.histogram(
        "league_match_wait_seconds",
        "Time from the moment at which a match can be assigned to its assignment.",
      ),
      this.#latencies.histogram(
        "league_match_latency_seconds",
        "Time from the moment at which a match can be assigned to its result.",
      ),
    ];
  }

  #onCommit({ state, events }: Commit): void {
    this.#commits += 1;
    this.#events += events.length;
    for (const committed of events) {
      if (committed.kind === "league") this.#onEvent(state.leagues.get(committed.leagueId), committed.event);
    }
  }

  #onEvent(league: League | undefined, event: LeagueEvent): void {
    if (!league || !("match_id" in event)) return;
    const ref = matchRef(league.leagueId, event.match_id);
    switch (event.type) {
      case "match_scheduled":
        this.#readyAtMs.set(ref, Date.parse(event.at));
        return;
      case "match_assigned":
        this.#addTime(this.#waits, league, event);
        return;
      case "match_released":
        this.#readyAtMs.set(ref, Date.parse(event.at));
        this.#released.add(event.reason);
        return;
      case "match_completed":
        // The manager completes matches of absent players itself.
        if (event.referee_id !== null) this.#addTime(this.#latencies, league, event);
        for (const { cause } of event.faults) this.#faults.add(CAUSES.has(cause) ? (cause as FaultCause) : "other");
        this.#ended.add(event.termination);
        break;
      case "match_aborted":
        this.#ended.add("aborted");
        break;
      case "match_cancelled":
        this.#ended.add("cancelled");
        break;
      case "match_annulled":
        // A match with a result has ended before.
        if (event.match_points === undefined) this.#ended.add("annulled");
        break;
    }
    if (event.type !== "withdrawal_settled") this.#readyAtMs.delete(ref);
  }

  #addTime(durations: Durations, league: League, event: { readonly match_id: string; readonly at: string }): void {
    const openedAt = roundOf(league, matchOf(league, event.match_id)?.roundId ?? 0)?.openedAt;
    if (!openedAt) return;
    const addedAtMs = this.#readyAtMs.get(matchRef(league.leagueId, event.match_id)) ?? 0;
    durations.addMs(Date.parse(event.at) - Math.max(addedAtMs, Date.parse(openedAt)));
  }
}
