import { createRandom } from "#shared/lib/rng.ts";
import type { PostgresServer } from "#shared/store/testing/postgres-server.ts";
import { processesIn } from "../testing/processes.ts";
import { type Checked, checkRun } from "./check.ts";
import { startCluster } from "./cluster-run.ts";
import { createDatabase } from "./database.ts";
import { FaultInjector, type InjectedFault } from "./faults/injector.ts";
import { planFaults } from "./faults/plan.ts";
import { planLeagues } from "./leagues.ts";

export interface ProofOptions {
  readonly folder: string;
  readonly matches: number;
  readonly players: number;
  readonly managers: number;
  readonly referees: number;
  readonly seed: string;
  readonly hasFaults: boolean;
}

/** The result of a run whose matches were all played. */
export interface Proof extends Checked {
  readonly matches: number;
  /** From the start of the first league until the last match was completed. */
  readonly seconds: number;
  readonly matchesPerSecond: number;
  /** Milliseconds of processor time per match by group of processes, with their starts. */
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly bytesPerMatch: { readonly database: number; readonly writeAheadLog: number };
  readonly injected: readonly InjectedFault[];
}

/** A run may take this time for each match, and a further time for its faults. */
const MATCH_MS = 200;
const REMAINDER_MS = 300_000;
const PROGRESS_MS = 10_000;
const SETTLE_MS = 60_000;

/** Plays a run with several managers, injects its faults and checks its results. */
export async function proveRun(
  options: ProofOptions,
  server: PostgresServer,
  log: (line: string) => void,
): Promise<Proof> {
  const { folder, matches, players, seed, hasFaults } = options;
  const database = await createDatabase(server);
  const before = await database.sizes();
  const leagues = planLeagues(matches, players);
  const cluster = await startCluster({ ...options, leagues, database, isCuttable: hasFaults });
  try {
    const injector = new FaultInjector(cluster, createRandom(`${seed}/targets`), log);
    const { progress } = cluster;
    const reporting = setInterval(() => log(`${progress.matches} of ${matches} matches`), PROGRESS_MS);
    const startedAt = performance.now();
    const limitMs = matches * MATCH_MS + REMAINDER_MS;
    const injecting = injector.inject(hasFaults ? planFaults(matches, seed) : []);
    const playing = Promise.all([progress.reached(matches), injecting]);
    await cluster.within(limitMs, "all matches are completed and all faults have healed", playing);
    clearInterval(reporting);
    const seconds = (performance.now() - startedAt) / 1_000;
    const cpu = Object.entries(cluster.cpu.totals()).map(([name, us]) => [name, us / 1_000 / matches] as const);
    const after = await database.sizes();
    const checked = await cluster.within(
      SETTLE_MS + limitMs,
      "the results are checked",
      checkRun(cluster.agents, matches),
    );
    await cluster.stop();
    return {
      ...{ matches, seconds, matchesPerSecond: matches / seconds, cpuMs: Object.fromEntries(cpu) },
      bytesPerMatch: {
        database: (after.sizeBytes - before.sizeBytes) / matches,
        writeAheadLog: (after.walBytes - before.walBytes) / matches,
      },
      ...{ injected: injector.injected, ...checked },
      faults: [...checked.faults, ...processesLeft(folder)],
    };
  } finally {
    await cluster.stop();
  }
}

/** Returns a text for each process that the run has left behind. */
const processesLeft = (folder: string): readonly string[] =>
  processesIn(folder).map(({ pid, args }) => `process ${pid} has not ended: ${args.join(" ")}`);
