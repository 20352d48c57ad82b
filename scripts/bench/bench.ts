import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/cli/options.ts";
import { messageSizes } from "./matches/league.ts";
import { FULL, QUICK, type Round, takeRound } from "./rates.ts";
import { summarise } from "./summary/summary.ts";
import { formatSummary } from "./summary/table.ts";

/** `npm run bench`: measures rates of this project and the limits of the machine. All figures of a table come from the same run. */
const options = withUsageExit(new Command("bench"))
  .description(
    "Measures rates, processor time and start-up with real processes on loopback, and prints a table. Missed aims do not fail the command.",
  )
  .option("--quick", "one short round; V8 has not optimized the code yet, so (a) and (c) are lower than in a full run")
  .option("--rounds <n>", "number of rounds; each takes every measurement once", countOption, 3)
  .option("--out <folder>", "folder for bench.json", "data/bench")
  .parse()
  .opts<{ quick?: boolean; rounds: number; out: string }>();

const pace = options.quick ? QUICK : FULL;
const roundCount = options.quick ? 1 : options.rounds;
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const machine = () => ({
  cpus: availableParallelism(),
  model: cpus()[0]?.model ?? "",
  node: process.version,
  load: loadavg().map((load) => load.toFixed(2)),
});

const before = machine();
log(`${before.cpus} × ${before.model}, Node ${before.node}, load ${before.load.join(" ")}`);
log("sizes of messages");
const sizes = await messageSizes();
const rounds: Round[] = [];
for (let number = 1; number <= roundCount; number++) {
  rounds.push(await takeRound(pace, sizes, number, (step) => log(`round ${number} of ${roundCount}: ${step}`)));
}
const after = machine();
const summary = summarise(rounds, sizes);
const result = { at: new Date().toISOString(), before, after, pace, sizes, summary, rounds };
mkdirSync(options.out, { recursive: true });
const file = join(options.out, "bench.json");
writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
process.stdout.write(`${formatSummary(summary)}\n`);
log(`load before ${before.load.join(" ")}, after ${after.load.join(" ")}; all figures are in ${file}`);
process.exit();
