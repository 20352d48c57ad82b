import { join } from "node:path";
import type { PostgresServer } from "#shared/store/testing/postgres-server.ts";
import { type Cluster, startCluster } from "../cluster-run.ts";
import { createDatabase } from "../database.ts";
import { planLeagues } from "../leagues.ts";
import type { ProofOptions } from "../proof.ts";
import { type LatencyProbe, percentile, probeLatency } from "./live-latency.ts";

/** The cost of a match, measured over a part of a run without faults. */
export interface MatchCost {
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
