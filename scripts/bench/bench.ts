import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { takeLimited } from "./limited.ts";
import { type Conditions, FULL, MEASUREMENTS, QUICK, type Round } from "./rates.ts";
import { formatSummary, LETTERS, measurementsOf, summarise } from "./summary.ts";

/** `npm run bench`: measures rates of this project and the limits of the machine. All figures of a table come from the same run. */
const options = withUsageExit(new Command("bench"))
  .description(
    "Measures rates, processor time and start-up with real processes on loopback, and prints a table. Each figure is printed as soon as it is measured. A measurement that fails or reaches its limit costs no other figures, and the exit code is then 1. Missed aims do not fail the command.",
  )
  .option("--quick", "one short round; V8 has not optimized the code yet, so (a) and (c) are lower than in a full run")
  .option("--rounds <n>", "number of rounds; each takes every measurement once", countOption, 3)
  .option("--only <letters>", "take only the measurements of the rows with these letters, e.g. a,c,s", lettersOption)
  .option("--limit <seconds>", "the longest time of one measurement", countOption, 600)
  .option("--out <folder>", "folder for bench.json", "data/bench")
  .parse()
  .opts<{ quick?: boolean; rounds: number; only?: readonly string[]; limit: number; out: string }>();

const pace = options.quick ? QUICK : FULL;
const roundCount = options.quick ? 1 : options.rounds;
const letters = options.only ?? LETTERS;
const chosen = measurementsOf(letters);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const machine = () => ({
  cpus: availableParallelism(),
  model: cpus()[0]?.model ?? "",
  node: process.version,
  load: loadavg().map((load) => load.toFixed(2)),
});

const before = machine();
log(`${before.cpus} × ${before.model}, Node ${before.node}, load ${before.load.join(" ")}`);
mkdirSync(options.out, { recursive: true });
const file = join(options.out, "bench.json");
const rounds: Partial<Round>[] = [];
const faults: string[] = [];
for (let number = 1; number <= roundCount; number++) {
  rounds.push({});
  for (const name of Object.keys(MEASUREMENTS) as (keyof Round)[]) if (chosen.has(name)) await take(name, number);
}
const after = machine();
process.stdout.write(`${formatSummary(write())}\n`);
for (const fault of faults) log(fault);
log(`load before ${before.load.join(" ")}, after ${after.load.join(" ")}; all figures are in ${file}`);
process.exit(faults.length === 0 ? 0 : 1);

/** Takes a measurement, prints its figures and writes all figures so far to the file. */
async function take(name: keyof Round, number: number): Promise<void> {
  const round = rounds.at(-1) as Partial<Round>;
  const conditions: Conditions = { pace, sizes: round.sizes ?? null, number };
  const position = `round ${number} of ${roundCount}`;
  const script = join(import.meta.dirname, "measurement.ts");
  const taken = await takeLimited<never>(script, [name, JSON.stringify(conditions)], options.limit * 1_000, (step) =>
    log(`${position}: ${step}`),
  );
  if (taken.ok) {
    Object.assign(round, { [name]: taken.figures });
    const figures = formatSummary(summarise([round], letters, name));
    if (figures !== "") log(figures);
  } else {
    const fault = `${position}: not measured: ${name}: ${taken.fault}`;
    log(fault);
    faults.push(fault);
  }
  write();
}

/** Writes all figures so far to the file. Returns their summary. */
function write(): ReturnType<typeof summarise> {
  const summary = summarise(rounds, letters);
  const sizes = rounds[0]?.sizes;
  const result = { at: new Date().toISOString(), before, after: machine(), pace, sizes, summary, rounds, faults };
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return summary;
}

function lettersOption(text: string): readonly string[] {
  const given = text.split(/[\s,]+/).filter((letter) => letter !== "");
  const unknown = given.find((letter) => !LETTERS.includes(letter));
  if (given.length > 0 && unknown === undefined) return given;
  throw new InvalidArgumentError(`give letters of ${LETTERS.join(", ")}.`);
}
