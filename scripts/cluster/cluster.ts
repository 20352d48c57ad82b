import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { messageOf } from "#shared/lib/result.ts";
import { countOption, playersOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { startPostgres } from "#shared/store/testing/postgres-server.ts";
import { type ClusterReport, compareCosts, costLines, proofLines } from "./figures.ts";
import { planLeagues } from "./leagues.ts";
import { proveRun } from "./proof.ts";

const command = withUsageExit(new Command("npm run cluster --"))
  .description(
    "Plays leagues with several managers on one PostgreSQL, kills, cuts and stops processes at random, and checks that every match has exactly one result. Needs PostgreSQL and HAProxy.",
  )
  .option("--matches <n>", "matches of all leagues in sum", countOption, 20_000)
  .option("--players <n>", "players", playersOption, 200)
  .option("--managers <n>", "managers", countOption, 3)
  .option("--referees <n>", "referees", countOption, 6)
  .option("--seed <seed>", "seed of the leagues and of the faults; the exact moments depend on the machine", "cluster")
  .option("--no-faults", "inject no faults")
  .option("--compare <n>", "measured matches of each comparison with other numbers of managers", countOption, 2_000)
  .option("--no-compare", "omit the comparisons")
  .option("--keep", "keep the folder of the run with logs and the export")
  .parse();
const options = command.opts<{
  matches: number;
  players: number;
  managers: number;
  referees: number;
  seed: string;
  faults: boolean;
  compare: number | false;
  keep?: boolean;
}>();

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), "league-cluster-"));
const interrupted = Promise.withResolvers<never>();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => interrupted.reject(new StartError("interrupted", EXIT.interrupted)));
}
const exitCode = await Promise.race([run(), interrupted.promise]).catch((thrown) => {
  log(thrown instanceof StartError ? thrown.message : ((thrown as Error).stack ?? messageOf(thrown)));
  return thrown instanceof StartError ? thrown.exitCode : EXIT.failed;
});
if (exitCode === EXIT.ok && !options.keep) rmSync(folder, { recursive: true, force: true });
else log(`the folder of the run is ${folder}`);
process.exit(exitCode);

async function run(): Promise<number> {
  const { faults: hasFaults, compare, ...shape } = options;
  planLeagues(shape.matches, shape.players);
  const server = await startPostgres();
  try {
    const costs = compare !== false ? await compareCosts({ ...shape, folder }, compare, server, log) : [];
    for (const line of costLines(costs)) log(line);
    const proof = await proveRun({ ...shape, folder: join(folder, "run"), hasFaults }, server, log);
    const report: ClusterReport = { seed: shape.seed, proof, costs };
    for (const line of proofLines(proof)) log(line);
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return proof.faults.length === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    await server.stop();
  }
}
