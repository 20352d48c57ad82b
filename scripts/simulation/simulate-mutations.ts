import { spawn } from "node:child_process";
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { temporaryFolder } from "../bench/process.ts";
import { evidenceIn, type Mutation } from "./mutations/mutation.ts";
import { MUTATIONS, TESTED_FAULTS } from "./mutations/mutations.ts";

const command = withUsageExit(new Command("simulate-mutations"))
  .description(
    "Checks that the simulation finds faults: applies each deliberate fault to a copy of the source and simulates it. A fault is found by a check of a rule that it breaks.",
  )
  .option("--seeds <n>", "how many seeds may be needed to find a fault", countOption, 300)
  .option("--only <text>", "the faults whose names contain this text")
  .parse();
const { seeds, only = "" } = command.opts<{ seeds: number; only?: string }>();

const CONCURRENCY = 2;
const SHOWN_CHARACTERS = 110;
const NOT_COPIED = new Set([".git", "node_modules", "data"]);
const project = join(import.meta.dirname, "../..");

/** Runs the simulation in a folder with a copy of the project. Resolves with its output. Rejects if it does not end by itself. */
async function simulate(folder: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ["scripts/simulation/simulate.ts", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (!/^(\d+ passed|failed)$/m.test(out)) throw new Error(`the simulation has ended with an error: ${error}`);
  return out;
}

/** Simulates a mutated copy of the project. Resolves with the first fault of a rule that the mutation breaks, or with null. */
async function evidenceFor(mutation: Mutation): Promise<string | null> {
  const { file, from, to, rules } = mutation;
  const copy = temporaryFolder();
  try {
    cpSync(project, copy, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
    symlinkSync(join(project, "node_modules"), join(copy, "node_modules"));
    const path = join(copy, file);
    writeFileSync(path, mutated(readFileSync(path, "utf8"), from, to, file));
    // The memory is checked after the seeds, which do not show it.
    const count = rules.every((rule) => rule === "memory") ? 1 : seeds;
    const out = await simulate(copy, "--seeds", String(count), "--workers", "1", "--until-rule", rules.join());
    return evidenceIn(out, mutation);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Replaces the only occurrence of `from` by `to`. Throws if there is not exactly one. */
function mutated(source: string, from: string, to: string, file: string): string {
  const parts = source.split(from);
  if (parts.length !== 2)
    throw new Error(`${file} contains this text ${parts.length - 1} times instead of once: ${from}`);
  return parts.join(to);
}

const queue = MUTATIONS.filter(({ name }) => name.includes(only));
if (queue.length === 0) command.error(`error: no fault has a name that contains "${only}"`);
// A seed that fails without a mutation would count as evidence for each of them.
const unmutated = await simulate(project, "--seeds", String(seeds), "--workers", String(CONCURRENCY));
if (!unmutated.endsWith(`${seeds} passed\n`)) {
  process.stdout.write(`the program fails without a deliberate fault:\n${unmutated}`);
  process.exit(1);
}
process.stdout.write(`${seeds} seeds pass without a deliberate fault\n`);
let missed = 0;
async function processQueue(): Promise<void> {
  for (let mutation = queue.shift(); mutation; mutation = queue.shift()) {
    const evidence = await evidenceFor(mutation);
    if (evidence === null) missed++;
    const shown = evidence?.slice(0, SHOWN_CHARACTERS) ?? `NOT FOUND by a check of: ${mutation.rules.join(", ")}`;
    process.stdout.write(`${mutation.name.padEnd(62)} ${shown}\n`);
  }
}
const count = queue.length;
await Promise.all(Array.from({ length: CONCURRENCY }, processQueue));
process.stdout.write(`${count - missed} of ${count} faults were found by a check of a rule that they break\n`);
process.stdout.write(`${TESTED_FAULTS.length} faults are found by tests only:\n`);
for (const { name, foundBy } of TESTED_FAULTS) process.stdout.write(`${name.padEnd(62)} ${foundBy}\n`);
process.exit(missed > 0 ? 1 : 0);
