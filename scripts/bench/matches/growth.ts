import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { cpuOf, launch, residentKb, sleep, temporaryFolder } from "../process.ts";
import { AnsweringAgents } from "./answering-agents.ts";

/**
 * `node scripts/bench/matches/growth.ts --format ladder --matches 100000` shows whether a match costs the manager more when the league already has many matches.
 * It measures the CPU time for each match in windows that begin after 1,000, 3,000, 10,000 … matches, and the memory at their ends. The first 1,000 matches
 * are not measured, because V8 has not optimized the code yet.
 */
const FORMATS: Readonly<Record<string, (matches: number, players: number) => object>> = {
  "round-robin": (matches, players) => ({ cycles: Math.ceil(matches / ((players * (players - 1)) / 2)) }),
  ladder: (matches) => ({ matches }),
  match: (matches, players) => ({ games: Math.ceil(matches / ((players * (players - 1)) / 2)) }),
  gauntlet: (matches, players) => ({ games: Math.ceil(matches / (players - 1)) }),
  // The bounds are so far apart that no test is decided: the answering agents win as the first player only.
  sprt: (matches) => ({ max_games: matches, elo0: 0, elo1: 0.01, alpha: 1e-9, beta: 1e-9 }),
};

const command = withUsageExit(new Command("bench-growth"))
  .description(
    "Measures the CPU time of a league manager for each match while its league grows. This process answers for all players and the referee.",
  )
  .addOption(new Option("--format <format>", "format of the league").choices(Object.keys(FORMATS)).default("ladder"))
  .option("--matches <n>", "number of matches to play", countOption, 100_000)
  .option("--players <n>", "number of players of the league", countOption, 8)
  .option("--concurrent <n>", "number of matches at the same time", countOption, 16)
  .parse();
const { format, matches, players, concurrent } = command.opts<{
  format: string;
  matches: number;
  players: number;
  concurrent: number;
}>();

const WARM_UP_MATCHES = 1_000;
const WINDOW_MATCHES = 1_000;
if (matches < WARM_UP_MATCHES + WINDOW_MATCHES) command.error("error: give at least 2000 matches");
if (players < 2) command.error("error: give at least 2 players");

const [managerPort = 0, agentPort = 0] = await freePorts(2);
const folder = temporaryFolder();
const configFile = join(folder, "league.json");
const league = {
  league_id: "growing",
  game: "rps.v1",
  options: { best_of: 1 },
  format,
  format_options: FORMATS[format]?.(matches, players),
  max_players: players,
  min_players: players,
};
writeFileSync(configFile, JSON.stringify({ leagues: [league], players: [] }));
const manager = await launch("league-manager/main.ts", [
  "--config",
  configFile,
  "--data",
  folder,
  "--port",
  String(managerPort),
]);
const agents = new AnsweringAgents({
  managerUrl: `http://127.0.0.1:${managerPort}/mcp`,
  port: agentPort,
  reports: () => true,
});
await agents.register(concurrent, players);

async function played(count: number): Promise<void> {
  while (agents.resultCount < count) {
    agents.assertNoFault();
    await sleep(20);
  }
}

process.stdout.write("after matches   CPU time of a match   memory of the manager\n");
for (let from = WARM_UP_MATCHES; from + WINDOW_MATCHES <= matches; from = nextStart(from)) {
  await played(from);
  const [first, cpu] = [agents.resultCount, cpuOf(manager.pid)];
  // Results come several at a time, so that a window may begin late, and the last one ends with the league.
  await played(Math.min(first + WINDOW_MATCHES, matches));
  const each = (cpuOf(manager.pid) - cpu) / (agents.resultCount - first);
  const [column, time] = [String(first).padStart(13), `${each.toFixed(0)} µs`.padStart(19)];
  process.stdout.write(`${column}   ${time}   ${(residentKb(manager.pid) / 1024).toFixed(0).padStart(18)} MB\n`);
}
await manager.stop();
await agents.close();
process.exit();

/** The next of the series 1,000, 3,000, 10,000 …; the last window ends with the league. */
function nextStart(from: number): number {
  const next = String(from).startsWith("3") ? Math.round((from * 10) / 3) : from * 3;
  const last = matches - WINDOW_MATCHES - concurrent;
  return from < last && next > last ? last : next;
}
