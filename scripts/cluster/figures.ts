import { join } from "node:path";
import type { PostgresServer } from "#shared/store/testing/postgres-server.ts";
import { type Agents, originOf } from "./agents.ts";
import { type Cluster, startCluster } from "./cluster-run.ts";
import { createDatabase } from "./database.ts";
import { FAULT_KINDS } from "./faults.ts";
import { planLeagues } from "./leagues.ts";
import type { Proof, ProofOptions } from "./proof.ts";

/** The cost of a match, measured over a part of a run without faults. */
interface MatchCost {
  /** "embedded" for one manager with its embedded database, without a proxy. */
  readonly managers: number | "embedded";
  readonly matches: number;
  readonly matchesPerSecond: number;
  /** Milliseconds of processor time per match by group of processes, and in sum. */
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly cpuTotalMs: number;
  /** From the first manager that sends a result to its live readers until each other manager has sent it; null with one manager. */
  readonly liveUpdateMs: { readonly median: number; readonly p95: number } | null;
}

/** The share of the measured matches that are played before, until V8 has optimized the processes. */
const WARMUP = 0.5;
const WINDOW_MS = 600_000;

/**
 * Measures the same part of the same run with the embedded database and with one manager, two managers, and so on. `window` is the number of measured
 * matches.
 */
export async function compareCosts(
  options: Omit<ProofOptions, "hasFaults">,
  window: number,
  server: PostgresServer,
  log: (line: string) => void,
): Promise<readonly MatchCost[]> {
  const costs: MatchCost[] = [];
  for (let managers = 0; managers <= options.managers; managers++) {
    log(`comparison: ${managers === 0 ? "the embedded database" : `managers on PostgreSQL: ${managers}`}`);
    const cluster = await startCluster({
      ...options,
      folder: join(options.folder, `comparison-${managers}`),
      leagues: planLeagues(options.matches, options.players),
      managers: Math.max(1, managers),
      database: managers === 0 ? null : await createDatabase(server),
      isCuttable: false,
    });
    try {
      const warmup = Math.floor(window * WARMUP);
      const measuring = measure(cluster, warmup, Math.min(window, options.matches - warmup));
      costs.push({
        managers: managers || "embedded",
        ...(await cluster.within(WINDOW_MS, "the comparison", measuring)),
      });
    } finally {
      await cluster.stop();
    }
  }
  return costs;
}

async function measure(cluster: Cluster, from: number, window: number): Promise<Omit<MatchCost, "managers">> {
  const { progress, cpu, agents } = cluster;
  await progress.reached(from);
  const latency = agents.managers.length === 1 ? null : probeLatency(agents);
  const [startedAt, before, first] = [performance.now(), cpu.totals(), progress.matches];
  await progress.reached(from + window);
  const [endedAt, after, last] = [performance.now(), cpu.totals(), progress.matches];
  const matches = last - first;
  const cpuMs = Object.entries(after).map(
    ([name, us]) => [name, (us - (before[name] ?? 0)) / 1_000 / matches] as const,
  );
  return {
    matches,
    matchesPerSecond: (matches / (endedAt - startedAt)) * 1_000,
    cpuMs: Object.fromEntries(cpuMs),
    cpuTotalMs: cpuMs.reduce((sum, [, ms]) => sum + ms, 0),
    liveUpdateMs: latency && summaryOf(latency),
  };
}

function summaryOf(latency: LatencyProbe): MatchCost["liveUpdateMs"] {
  const times = latency.stop();
  return { median: percentile(times, 0.5), p95: percentile(times, 0.95) };
}

/** Reads the events of a league at each manager and compares the times at which they arrive. */
interface LatencyProbe {
  /** Ends the readers. Returns the milliseconds from the first arrival of each event until its arrival at each other manager, ascending. */
  stop(): readonly number[];
}

/** Opens a live stream of the results of the first league at each manager. */
function probeLatency({ managers, leagues }: Agents): LatencyProbe {
  const leagueId = leagues[0]?.league_id ?? "";
  const stopping = new AbortController();
  const arrivals = new Map<string, number[]>();
  const onEvent = (version: string): void => {
    const times = arrivals.get(version) ?? [];
    times.push(performance.now());
    arrivals.set(version, times);
  };
  for (const { port } of managers) void readEvents(port, leagueId, stopping.signal, onEvent);
  return {
    stop() {
      stopping.abort();
      // An event that has not arrived at every manager was sent while the readers connected or ended.
      const complete = [...arrivals.values()].filter((times) => times.length === managers.length);
      return complete.flatMap(([first = 0, ...later]) => later.map((time) => time - first)).sort((a, b) => a - b);
    },
  };
}

async function readEvents(
  port: number,
  leagueId: string,
  signal: AbortSignal,
  onEvent: (version: string) => void,
): Promise<void> {
  const url = `${originOf(port)}/leagues/${leagueId}/events?types=match_completed`;
  let rest = "";
  try {
    const { body } = await fetch(url, { signal });
    if (body === null) return;
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("id:")) onEvent(line.slice(3).trim());
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

/** Returns the value below which a share of ascending values lies; NaN without values. */
const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;

/** The report that is printed on stdout. */
export interface ClusterReport {
  readonly seed: string;
  readonly proof: Proof;
  readonly costs: readonly MatchCost[];
}

const GROUPS = ["managers", "database", "proxy", "referees", "players"] as const;

const MAX_FAULTS = 20;

/** Returns a table with one row for each number of managers. The columns after the rate are milliseconds of processor time per match. */
export function costLines(costs: readonly MatchCost[]): readonly string[] {
  if (costs.length === 0) return [];
  const header = ["managers", "matches/s", "CPU ms", ...GROUPS, "live update ms (median, p95)"];
  const rows = costs.map(({ managers, matchesPerSecond, cpuTotalMs, cpuMs, liveUpdateMs }) => [
    String(managers),
    matchesPerSecond.toFixed(1),
    cpuTotalMs.toFixed(2),
    ...GROUPS.map((name) => (cpuMs[name] ?? 0).toFixed(2)),
    liveUpdateMs === null ? "" : `${liveUpdateMs.median.toFixed(1)}, ${liveUpdateMs.p95.toFixed(1)}`,
  ]);
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [header, ...rows].map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("  "));
}

/** Returns the figures and the faults of a run. */
export function proofLines(proof: Proof): readonly string[] {
  const { matches, seconds, matchesPerSecond, bytesPerMatch, injected } = proof;
  const kinds = FAULT_KINDS.flatMap((kind) => {
    const times = injected.filter((fault) => fault.kind === kind).map(({ healedAfterMs }) => healedAfterMs / 1_000);
    if (times.length === 0) return [];
    const longest = Math.max(...times).toFixed(1);
    return [`  ${kind}: ${times.length} times, over after at most ${longest} s`];
  });
  const cpu = GROUPS.map((name) => `${name} ${(proof.cpuMs[name] ?? 0).toFixed(2)}`).join(", ");
  return [
    `${matches} matches in ${seconds.toFixed(0)} s, ${matchesPerSecond.toFixed(1)} per second`,
    `CPU time per match in ms: ${cpu}`,
    `bytes per match: ${bytesPerMatch.database.toFixed(0)} in the database, ${bytesPerMatch.writeAheadLog.toFixed(0)} in the write-ahead log`,
    `assignments that were discarded and played again: ${proof.discarded}`,
    ...(kinds.length === 0 ? [] : ["faults injected:", ...kinds]),
    ...(proof.faults.length === 0
      ? ["no fault found"]
      : [...proof.faults.slice(0, MAX_FAULTS), `faults found: ${proof.faults.length}`]),
  ];
}
