import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Command } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, type Measured, peakKb, residentKb, sleep, temporaryFolder } from "../process.ts";
import { AnsweringAgents, recordRounds } from "./answering-agents.ts";

/** `node scripts/bench/matches/memory.ts` measures the peak memory of a manager with one large league, while it plays and after a restart. */
const {
  players,
  rounds,
  recorded: recordedRounds,
} = withUsageExit(new Command("bench-memory"))
  .description(
    "Measures the peak memory of a league manager with one league. This process answers for all players and the referee.",
  )
  .option("--players <n>", "number of players of the league", countOption, 1_000)
  .option("--rounds <n>", "number of rounds to play", countOption, 3)
  .option("--recorded <n>", "number of earlier rounds whose results are recorded without being played", countOption, 0)
  .parse()
  .opts<{ players: number; rounds: number; recorded: number }>();

const LEAGUE = "large";
/** More than the number of matches of any round. */
const MAX_CONCURRENT = 100_000;

const [managerPort = 0, agentPort = 0] = await freePorts(2);
const folder = temporaryFolder();

let hasStarted = false;
/** No match is reported before the earlier rounds are recorded. */
let isReporting = recordedRounds === 0;
const agents = new AnsweringAgents({
  managerUrl: `http://127.0.0.1:${managerPort}/mcp`,
  port: agentPort,
  reports({ round_id }) {
    hasStarted = true;
    // Matches of later rounds are never reported.
    return isReporting && round_id <= recordedRounds + rounds;
  },
});

const startManager = (): Promise<Measured> =>
  launch("league-manager/main.ts", ["--config", configFile, "--data", folder, "--port", String(managerPort)]);

/** Waits until `check` returns true, and prints `status` every 5 seconds. Throws the first fault. */
async function waitUntil(check: () => boolean, status: () => string): Promise<void> {
  for (let polls = 1; !check(); polls++) {
    agents.assertNoFault();
    if (polls % 50 === 0) process.stderr.write(`${status()}\n`);
    await sleep(100);
  }
}

const configFile = join(folder, "league.json");
const league = {
  league_id: LEAGUE,
  game: "rps.v1",
  options: { best_of: 1 },
  max_players: players,
  min_players: players,
};
writeFileSync(configFile, JSON.stringify({ leagues: [league], players: [] }));
const megabytes = (kb: number): string => `${(kb / 1024).toFixed(0)} MB`;
const printMemory = (step: string, { pid }: Measured): void => {
  process.stdout.write(`${step}: peak ${megabytes(peakKb(pid))}, now ${megabytes(residentKb(pid))}\n`);
};

let manager = await startManager();
printMemory("started", manager);
await agents.register(MAX_CONCURRENT, players);
printMemory(`${players} players registered`, manager);
if (recordedRounds > 0) {
  await waitUntil(
    () => hasStarted,
    () => "the league has not started",
  );
  printMemory("league started", manager);
  await manager.stop();
  const matches = await recordRounds(join(folder, "league-manager.sqlite"), LEAGUE, recordedRounds);
  manager = await startManager();
  printMemory(`started again with ${matches} recorded matches and no snapshot`, manager);
  await manager.stop();
  isReporting = true;
  manager = await startManager();
  printMemory("started again with a snapshot", manager);
}
const matchesPerRound = Math.floor(players / 2);
const roundCount = players - 1 + (players % 2);
const lastRound = Math.min(recordedRounds + rounds, roundCount);
for (let round = recordedRounds + 1; round <= lastRound; round++) {
  const startedAt = performance.now();
  await waitUntil(
    () => agents.resultCount >= (round - recordedRounds) * matchesPerRound,
    () => `${agents.resultCount} results`,
  );
  printMemory(
    `round ${round} of ${roundCount} played in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
    manager,
  );
}
if (lastRound === roundCount) {
  const db = new DatabaseSync(join(folder, "league-manager.sqlite"), { readOnly: true, timeout: 5_000 });
  const select = db.prepare("SELECT 1 FROM log WHERE type = 'completed'");
  await waitUntil(
    () => select.get() !== undefined,
    () => "the league is not completed",
  );
  db.close();
  await sleep(3_000);
  printMemory("league completed", manager);
}
await manager.stop();
manager = await startManager();
await sleep(3_000);
printMemory("started again", manager);
await manager.stop();
await agents.close();
process.exit();
