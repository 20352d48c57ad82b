import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import { createRandom } from "#shared/lib/rng.ts";
import type { PostgresServer } from "#shared/store/testing/postgres-server.ts";
import { parseLeagueEvent } from "../../league-manager/league/events.ts";
import type { Termination } from "../../league-manager/league/league.ts";
import { leagueLogFile } from "../archive/format.ts";
import { callTool, processesIn } from "../testing/processes.ts";
import { type Agents, managerName } from "./agents.ts";
import { startCluster } from "./cluster-run.ts";
import { createDatabase, leagueDocument, runLeague } from "./database.ts";
import { FaultInjector, type InjectedFault, planFaults } from "./faults.ts";
import { type PlannedLeague, planLeagues } from "./leagues.ts";

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
      matches,
      seconds,
      matchesPerSecond: matches / seconds,
      cpuMs: Object.fromEntries(cpu),
      bytesPerMatch: {
        database: (after.sizeBytes - before.sizeBytes) / matches,
        writeAheadLog: (after.walBytes - before.walBytes) / matches,
      },
      injected: injector.injected,
      ...checked,
      faults: [...checked.faults, ...processesLeft(folder)],
    };
  } finally {
    await cluster.stop();
  }
}

/** Returns a text for each process that the run has left behind. */
const processesLeft = (folder: string): readonly string[] =>
  processesIn(folder).map(({ pid, args }) => `process ${pid} has not ended: ${args.join(" ")}`);

/** The document of `league verify --json`. */
interface Verified {
  readonly faults: readonly { readonly file: string; readonly message: string }[];
  readonly matches: number;
  readonly discarded: number;
  readonly standings: Readonly<Record<string, readonly object[]>>;
}

/** What the check of a run has found. */
interface Checked {
  readonly faults: readonly string[];
  /** The number of matches that `verify` has replayed. */
  readonly verified: number;
  /** The number of assignments that were discarded: the match was taken from its referee and got a new epoch. */
  readonly discarded: number;
}

/**
 * Checks a run that has ended and whose managers still run. Every planned match has exactly one result in the log, `league verify` finds no fault in
 * the export, and every manager shows the standings that follow from it.
 */
async function checkRun(agents: Agents, matches: number): Promise<Checked> {
  const folder = join(agents.folder, "export");
  await exportRun(agents, folder);
  // A separate process: the connections of the managers to the database pass through this one.
  const verified = await leagueDocument<Verified>(["verify", folder]);
  const results = resultsIn(folder, agents.leagues);
  return {
    faults: [
      ...verified.faults.map(({ file, message }) => `${file}: ${message}`),
      ...faultsOfResults(results, matches),
      ...(await faultsOfStandings(agents, verified)),
    ],
    verified: verified.matches,
    discarded: verified.discarded,
  };
}

/** Exports the run of a database, or of the folder of the embedded manager, with the command line. */
async function exportRun({ folder, managers }: Agents, out: string): Promise<void> {
  const database = managers[0]?.database;
  const source = database ? ["--database", database] : [join(folder, "manager-1")];
  await runLeague(["export", ...source, "--out", out]);
}

interface Result {
  readonly match: string;
  readonly termination: Termination;
}

/** Returns the results in the logs of the leagues, in their order. An abort ends a match too. */
const resultsIn = (folder: string, leagues: readonly PlannedLeague[]): readonly Result[] =>
  leagues.flatMap(({ league_id }) => {
    const file = join(folder, leagueLogFile(league_id));
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    return lines.flatMap((line): Result[] => {
      const event = line === "" ? null : parseLeagueEvent(line);
      if (event?.type !== "match_completed" && event?.type !== "match_aborted") return [];
      const termination = event.type === "match_completed" ? event.termination : "aborted";
      return [{ match: matchRef(league_id, event.match_id), termination }];
    });
  });

/**
 * Returns a text for each match with more than one result or without a normal end, and one if the number of matches is wrong. No fault of a cluster
 * concerns a player, so a forfeit or an abort would charge the players with it.
 */
export function faultsOfResults(results: readonly Result[], matches: number): readonly string[] {
  const counts = new Map<string, number>();
  for (const { match } of results) counts.set(match, (counts.get(match) ?? 0) + 1);
  return [
    ...(counts.size === matches ? [] : [`${counts.size} matches have a result, not ${matches}`]),
    ...[...counts].flatMap(([match, count]) => (count > 1 ? [`${match} has ${count} results`] : [])),
    ...results.flatMap(({ match, termination }) =>
      termination === "normal" ? [] : [`${match} has not ended normally: ${termination}`],
    ),
  ];
}

/** Returns a text for each manager and league whose standings differ from those that follow from the export. */
async function faultsOfStandings(agents: Agents, { standings }: Verified): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [leagueId, rows] of Object.entries(standings)) {
    for (const [index, { port }] of agents.managers.entries()) {
      const { value } = await callTool(port, "get_standings", { league_id: leagueId });
      const shown = (value.standings as readonly Record<string, unknown>[]).map(({ league_id, state, ...row }) => row);
      if (isDeepStrictEqual(shown, rows)) continue;
      faults.push(`${managerName(index)} shows other standings of ${leagueId} than follow from the export`);
    }
  }
  return faults;
}
