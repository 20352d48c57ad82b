import { Command } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { launch, type Measured, ROOT, sleep } from "../process.ts";
import { LEAGUE, startRealLeague } from "../real-league.ts";
import type { MemoryReport } from "../rest/heap.ts";

/**
 * `node scripts/bench/matches/soak.ts` shows whether the processes of a league need more memory the longer they run. It plays the matches of a day with one
 * match each second as fast as the machine can, while a client plays sessions on the referee by REST and pages are read.
 */
const { matches, steps } = withUsageExit(new Command("bench-soak"))
  .description("Measures the memory of a manager, a referee and players during many matches of one ladder.")
  .option("--matches <n>", "number of matches; default: one for each second of a day", countOption, 86_400)
  .option("--steps <n>", "number of measurements", countOption, 12)
  .parse()
  .opts<{ matches: number; steps: number }>();

const PLAYERS = 8;
const PAGES = [
  "/",
  `/leagues/${LEAGUE}`,
  `/leagues/${LEAGUE}/schedule`,
  `/api/leagues/${LEAGUE}/standings`,
  "/metrics",
];
/** Growth is measured after this share of the matches, when the caches are full: a player remembers the ids of its last 10,000 invitations. */
const SETTLED = 0.5;

const league = await startRealLeague({
  league: {
    game: "rps.v1",
    options: { best_of: 3 },
    format: "ladder",
    format_options: { matches },
  },
  players: PLAYERS,
  nodeArgs: ["--expose-gc", "--import", `${ROOT}scripts/bench/rest/heap.ts`],
});
const client = await launch("scripts/bench/rest/client.ts", ["play", league.referee.urls[0] ?? "", "1", "4"]);
const processes: Readonly<Record<string, Measured>> = {
  manager: league.manager,
  referee: league.referee,
  players: league.players,
};

interface Measurement {
  readonly completed: number;
  /** Bytes of the heap and the external memory, by process. */
  readonly heaps: readonly number[];
}

async function measureAt(count: number): Promise<Measurement> {
  let completed = await league.completed();
  while (completed < count) {
    await sleep(200);
    completed = await league.completed();
  }
  for (const page of PAGES) {
    const response = await fetch(`${league.url}${page}`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${page} is answered with ${response.status}`);
  }
  const reports = await Promise.all(Object.values(processes).map((process) => process.ask<MemoryReport>("memory")));
  return { completed, heaps: reports.map(({ heapBytes }) => heapBytes) };
}

const names = Object.keys(processes);
process.stdout.write(`matches ${names.map((name) => `${name} (MB)`.padStart(15)).join("")}\n`);
const measurements: Measurement[] = [];
for (let step = 1; step <= steps; step++) {
  const measurement = await measureAt(Math.round((step * matches) / steps));
  measurements.push(measurement);
  const columns = measurement.heaps.map((bytes) => (bytes / 1024 ** 2).toFixed(1).padStart(15));
  process.stdout.write(`${String(measurement.completed).padEnd(8)}${columns.join("")}\n`);
}
const { created } = await client.ask<{ created: number }>("report");
const first = measurements.find(({ completed }) => completed >= SETTLED * matches) as Measurement;
const last = measurements.at(-1) as Measurement;
for (const [index, name] of names.entries()) {
  const growth = ((last.heaps[index] ?? 0) - (first.heaps[index] ?? 0)) / Math.max(1, last.completed - first.completed);
  process.stdout.write(`${name}: ${growth.toFixed(0)} bytes for each match\n`);
}
process.stdout.write(`sessions by REST in this time: ${created}\n`);
await client.stop();
await league.stop();
process.exit();
