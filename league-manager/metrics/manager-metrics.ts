import type { Express } from "express";
import type { Clock } from "#shared/lib/clock.ts";
import { equalSecrets } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { agentStates } from "#shared/protocol/lifecycle.ts";
import { bearerOf, remoteAddressOf } from "#shared/rpc/http/request.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { type FaultCause, faultCauses } from "#shared/session/entry.ts";
import type { ManagerState } from "../agents/registered-agent.ts";
import { type LeagueEvent, releaseReasons } from "../league/events.ts";
import { matchOf } from "../league/evolve.ts";
import { currentMatches, type League, roundOf, type Termination } from "../league/league.ts";
import type { Commit, Ledger } from "../ledger.ts";
import type { QueueStats } from "../match-queue.ts";
import type { CountedLedger } from "./counted-ledger.ts";
import { Counts, counter, Durations, gauge, type MetricFamily, type Sample } from "./metric-families.ts";

/** The maximum time for which a scrape waits for the queue, whose answer may come from a database. */
const QUEUE_MS = 2_000;

interface MetricsSources {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly commands: Pick<CountedLedger, "families">;
  readonly clock: Pick<Clock, "after">;
  readonly silentReferees: () => readonly string[];
  readonly queueStats: () => Promise<QueueStats>;
  /** Null for a manager that works alone. */
  readonly shared: SharedFigures | null;
}

/** The figures of a manager about the database that it shares with others. */
interface SharedFigures {
  /** Whether the manager can commit. */
  isAvailable(): boolean;
  commitNumber(): number;
  memberCount(): number;
}

/** The metrics of a manager. */
export interface ManagerMetrics {
  families(): Promise<readonly MetricFamily[]>;
}

/** Counts from now on. The other values are read from the state when they are asked for. */
export function managerMetrics(sources: MetricsSources): ManagerMetrics {
  const { ledger, commands, silentReferees, shared } = sources;
  const matches = new MatchFigures(ledger);
  return {
    families: async () => [
      gauge("league_manager_info", "The version of this manager.", [{ labels: { version: VERSION }, value: 1 }]),
      ...stateFigures(ledger.state, silentReferees()),
      ...matches.families(),
      ...commands.families(),
      ...(await queueFigures(sources)),
      ...(shared ? sharedFigures(shared) : []),
    ],
  };
}

/** The depth of the queue; nothing if the queue does not answer. */
async function queueFigures({ queueStats, clock }: MetricsSources): Promise<readonly MetricFamily[]> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const cancel = clock.after(QUEUE_MS, () => resolve(null));
  const stats = await Promise.race([queueStats().catch(() => null), late]);
  cancel();
  if (stats === null) return [];
  const samples = (["waiting", "held"] as const).map((state) => ({ labels: { state }, value: stats[state] }));
  return [gauge("league_queue_jobs", "Matches in the queue, by state: no manager has them, or one has.", samples)];
}

const sharedFigures = (shared: SharedFigures): readonly MetricFamily[] => [
  gauge("league_database_available", "1 if this manager can commit, else 0.", shared.isAvailable() ? 1 : 0),
  gauge("league_commit_number", "The newest commit that this manager has applied.", shared.commitNumber()),
  gauge("league_managers", "The managers of the run that this one knows, with itself.", shared.memberCount()),
];

/**
 * `GET /metrics`: the metrics of the manager in the text format of Prometheus, for programs on this machine and for the operator token. The library is
 * loaded by the first request, so that it does not delay the start.
 */
export const metricsRoutes =
  (metrics: Pick<ManagerMetrics, "families">, operatorToken: string) =>
  (app: Express): void => {
    app.get("/metrics", async (request, response) => {
      response.set("cache-control", "no-store");
      if (!isLoopback(remoteAddressOf(request)) && !equalSecrets(bearerOf(request) ?? "", operatorToken)) {
        const message =
          bearerOf(request) === null
            ? "From another machine, send the operator token: Authorization: Bearer TOKEN"
            : "The token is not the operator token of this manager, which is in the file operator-token of its data folder";
        response
          .status(401)
          .set("www-authenticate", "Bearer")
          .json({ error: { code: "UNAUTHORIZED", message } });
        return;
      }
      const { metricsText } = await import("./prometheus-text.ts");
      const { type, text } = await metricsText(await metrics.families());
      response.set("content-type", type).send(text);
    });
  };

/** The metrics that follow from the state of the run, so that they are the same at each of its managers. `silent` are the referees that do not answer this one. */
function stateFigures({ leagues, agents }: ManagerState, silent: readonly string[]): readonly MetricFamily[] {
  const all = [...leagues.values()];
  const referees = [...agents.values()].filter(({ kind, isRemoved }) => kind === "referee" && !isRemoved);
  const players = [...agents.values()].filter(({ kind }) => kind === "player");
  const occupied = (refereeId: string): number =>
    all.reduce((sum, league) => sum + (league.occupied.get(refereeId) ?? 0), 0);
  const byReferee = (value: (referee: (typeof referees)[number]) => number): readonly Sample[] =>
    referees.map((referee) => ({ labels: { referee: referee.id }, value: value(referee) }));
  return [
    gauge("league_leagues", "Leagues, by status.", countedBy("status", LEAGUE_STATUSES, all)),
    gauge("league_players", "Registered players, by state.", countedBy("state", agentStates, players)),
    gauge(
      "league_matches",
      "Matches of a league, by state: waiting for a referee (in open rounds only), running, or over.",
      all.flatMap(matchesOf),
    ),
    gauge(
      "league_referee_up",
      "1 if the referee answers the probes of this manager, else 0.",
      byReferee(({ id }) => (silent.includes(id) ? 0 : 1)),
    ),
    gauge(
      "league_referee_matches",
      "Matches that occupy the referee.",
      byReferee(({ id }) => occupied(id)),
    ),
    gauge(
      "league_referee_capacity",
      "Matches that the referee can have at the same time.",
      byReferee(({ maxConcurrent }) => maxConcurrent),
    ),
  ];
}

const LEAGUE_STATUSES = ["open", "running", "completed"] as const satisfies readonly League["status"][];

/** The number of items with each value of a field. */
const countedBy = <Field extends string, Value extends string>(
  field: Field,
  values: readonly Value[],
  items: readonly Readonly<Record<Field, Value>>[],
): readonly Sample[] =>
  values.map((value) => ({
    labels: { [field]: value },
    value: items.filter((item) => item[field] === value).length,
  }));

function matchesOf(league: League): readonly Sample[] {
  const states = { waiting: 0, running: 0, over: league.completedCount };
  for (const { status } of currentMatches(league)) {
    if (status === "scheduled") states.waiting += 1;
    else if (status === "assigned") states.running += 1;
  }
  return Object.entries(states).map(([state, value]) => ({ labels: { league: league.leagueId, state }, value }));
}

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
