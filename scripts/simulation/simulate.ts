import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { parsedJson } from "#shared/lib/text.ts";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { faultsOfMemory } from "./checks/memory.ts";
import { RULES, ruleOf } from "./checks/rules.ts";
import { type Counts, Coverage, MIN_RUNS } from "./coverage.ts";
import { Plan } from "./plan.ts";
import { planOf } from "./random-plan.ts";
import { runPlan, shrink, warmUp } from "./run.ts";

const command = withUsageExit(new Command("simulate"))
  .description(
    "Plays leagues in virtual time with a simulated network and disk, and checks that no result is lost, no player is charged for faults of others, and every league ends.",
  )
  .option("--seeds <n>", "how many seeds", countOption, 1_000)
  .option("--first <n>", "the first seed", countOption, 1)
  .option("--step <n>", "the distance from one seed to the next", countOption, 1)
  .option("--seed <seed>", "one seed only")
  .option("--plan <json>", "one plan, in the form that a failing seed prints")
  .option("--trace", "with --seed or --plan: print each step of the run")
  .option("--until-failure", "stop at the first seed that fails")
  .option(
    "--until-rule <names>",
    "stop at the first seed that breaks one of these rules; names are separated by commas",
  )
  .option("--workers <n>", "processes that share the seeds", countOption, availableParallelism())
  .parse();
const options = command.opts<{
  seeds: number;
  first: number;
  step: number;
  seed?: string;
  plan?: string;
  trace?: boolean;
  untilFailure?: boolean;
  untilRule?: string;
  workers: number;
}>();
const one = onePlan(options);
if (options.trace && !one) command.error("error: --trace requires --seed or --plan");
// A worker ends when the command that has started it ends.
const endWithParent = (): never => process.exit(EXIT.interrupted);
process.on("disconnect", endWithParent);

/** Returns the plan of --plan or of --seed; null for a series of seeds. */
function onePlan({ plan, seed }: { readonly plan?: string; readonly seed?: string }): Plan | null {
  if (plan !== undefined && seed !== undefined) command.error("error: --seed and --plan exclude each other");
  if (seed === "") command.error("error: --seed is empty");
  if (plan === undefined) return seed === undefined ? null : planOf(seed);
  const parsed = Plan.safeParse(parsedJson(plan));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return command.error(`error: --plan is not a valid plan: ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
}

/** The rules of --until-rule. */
const sought = options.untilRule?.split(",") ?? [];
const unknown = sought.find((name) => !RULES.some((rule) => rule === name));
if (unknown !== undefined) command.error(`error: unknown rule "${unknown}"; the rules are: ${RULES.join(", ")}`);
const isSought = (fault: string): boolean => sought.includes(ruleOf(fault) ?? "");

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** What all runs contained. */
const coverage = new Coverage();

/** Plays the plans in this process; resolves with the number of plans that failed. */
async function simulate(plans: Iterable<Plan>): Promise<number> {
  await warmUp();
  let failed = 0;
  for (const plan of plans) {
    const { faults, trace, steps, endedAt, counts } = await runPlan(plan);
    coverage.add(counts);
    if (options.trace) for (const line of trace) print(line);
    if (faults.length === 0) continue;
    failed++;
    print(`seed ${plan.seed} fails after ${steps} steps and ${Math.round(endedAt / 1_000)} s:`);
    for (const fault of faults) print(`  ${fault}`);
    if (sought.length === 0) print(`  smallest plan that fails: ${JSON.stringify(await shrink(plan))}`);
    if (options.untilFailure || faults.some(isSought)) break;
  }
  return failed;
}

/** Distributes the seeds over worker processes; resolves with the number of workers that failed. */
async function share({ seeds, first, step, workers }: typeof options): Promise<number> {
  const ends = Array.from({ length: workers }, async (_, index) => {
    const count = Math.floor((seeds - index + workers - 1) / workers);
    if (count === 0) return 0;
    const args = { first: first + index * step, step: step * workers, seeds: count, workers: 1 };
    const flags = Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const worker = fork(fileURLToPath(import.meta.url), [
      ...flags,
      ...(options.untilFailure ? ["--until-failure"] : []),
    ]);
    worker.on("message", (counts: Counts) => coverage.add(counts));
    const [code] = await once(worker, "exit");
    return Number(code ?? 1);
  });
  const codes = await Promise.all(ends);
  return codes.filter((code) => code !== 0).length;
}

/** Generates the plans of a series of seeds. */
function* plans({ seeds, first, step }: typeof options): Iterable<Plan> {
  for (let n = 0; n < seeds; n++) yield planOf(String(first + n * step));
}

/** Plays a long league and prints its faults; resolves with 1 if there are any, else with 0. */
async function checkMemory(): Promise<number> {
  await warmUp();
  const faults = await faultsOfMemory();
  if (faults.length > 0) print("a long league fails:");
  for (const fault of faults) print(`  ${fault}`);
  return Math.sign(faults.length);
}

/** Prints how often each kind of event and message has occurred in a long series; returns 1 if one has not occurred, else 0. */
function checkCoverage(): number {
  if (options.seeds < MIN_RUNS) return 0;
  for (const line of coverage.lines()) print(line);
  const missing = coverage.missing();
  for (const kind of missing) print(`  coverage: no run had this ${kind}`);
  return Math.sign(missing.length);
}

const isShared = !one && options.workers > 1;
const isWorker = process.send !== undefined;
let failed = isShared ? await share(options) : await simulate(one ? [one] : plans(options));
if (!one && !isWorker && !(failed > 0 && options.untilFailure) && (sought.length === 0 || sought.includes("memory")))
  failed += await checkMemory();
if (!one && !isWorker && !options.untilFailure && sought.length === 0) failed += checkCoverage();
if (isWorker) await new Promise((resolve) => process.send?.(coverage.counts, resolve));
if (!isWorker) print(failed === 0 ? `${one ? 1 : options.seeds} passed` : "failed");
// process.exit would truncate a long trace that is written to a pipe.
process.exitCode = failed === 0 ? EXIT.ok : EXIT.failed;
process.off("disconnect", endWithParent);
