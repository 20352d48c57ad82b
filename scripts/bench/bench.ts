import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/cli/options.ts";
import { messageSizes } from "./matches/league.ts";
import { FULL, QUICK, type Round, takeRound } from "./rates.ts";
import { summarise } from "./summary/summary.ts";
import { printable } from "./summary/table.ts";

/** `npm run bench`: how fast everything is, beside what could be; every figure of one table comes from one run. */
const options = withUsageExit(new Command("bench"))
  .description("Measures rates, CPU time and start-up, with real processes on loopback. Asserts nothing.")
  .option("--quick", "one short round, before everything is compiled: of (a) and (c) it shows less than there is")
  .option("--rounds <n>", "how often each measurement is taken", countOption, 3)
  .option("--out <folder>", "where bench.json goes", "data/bench")
  .parse()
  .opts<{ quick?: boolean; rounds: number; out: string }>();

const pace = options.quick ? QUICK : FULL;
const wanted = options.quick ? 1 : options.rounds;
const tell = (line: string): void => void process.stderr.write(`${line}\n`);
const machine = () => ({
  cpus: availableParallelism(),
  model: cpus()[0]?.model ?? "",
  node: process.version,
  load: loadavg().map((one) => one.toFixed(2)),
});

const before = machine();
tell(`${before.cpus} × ${before.model}, Node ${before.node}, load ${before.load.join(" ")}`);
tell("sizes of messages");
const sizes = await messageSizes();
const rounds: Round[] = [];
for (let number = 1; number <= wanted; number++) {
  rounds.push(await takeRound(pace, sizes, number, (what) => tell(`round ${number} of ${wanted}: ${what}`)));
}
const after = machine();
const summary = summarise(rounds, sizes);
const result = { at: new Date().toISOString(), before, after, pace, sizes, summary, rounds };
mkdirSync(options.out, { recursive: true });
const file = join(options.out, "bench.json");
writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
process.stdout.write(`${printable(summary)}\n`);
tell(`load before ${before.load.join(" ")}, after ${after.load.join(" ")}; all figures are in ${file}`);
process.exit();
