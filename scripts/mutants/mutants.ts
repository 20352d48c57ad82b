import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Command } from "commander";
import { cutTo } from "#shared/lib/text.ts";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { importingTests, nearTests, productFiles } from "./selection.ts";
import { equivalentOf, type Mutant, type Run, readEquivalents, runStryker } from "./stryker.ts";

interface Options {
  readonly files: readonly string[];
  readonly near?: true;
  readonly workers: number;
  readonly json?: string;
}

const SHOWN_CHARACTERS = 110;

const isSurvivor = ({ outcome }: Mutant): boolean => outcome === "survived";
const keyOf = ({ file, range, replacement }: Mutant): string => `${file}:${range} ${replacement}`;

const command = withUsageExit(new Command("mutants"))
  .description(
    "Checks the tests: changes one operator, condition or block of the program at a time and runs the tests in the folder of the file, then those that import it. Exits with 1 if a change survives all of them.",
  )
  .requiredOption(
    "--files <pattern...>",
    "the files to change: a folder, a glob, or FILE:FROM-TO for some of its lines",
  )
  .option("--near", "run only the tests in the folders of the files")
  .option("--workers <n>", "how many changes are tested at the same time", countOption, availableParallelism())
  .option("--json <file>", "write all changes with their outcomes to this file")
  .parse();
const options = command.opts<Options>();

const started = performance.now();
const files = productFiles(options.files, process.cwd());
if (files.length === 0) command.error(`error: no file of the program matches ${options.files.join(" ")}`);
// Stryker has printed the error.
const mutants = await testMutants(files, options).catch(() => process.exit(EXIT.failed));
const entries = readEquivalents();
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(mutants, null, 2)}\n`);
const survivors = mutants.filter((mutant) => isSurvivor(mutant) && equivalentOf(mutant, entries) === undefined);
const equivalent = mutants.filter((mutant) => isSurvivor(mutant) && !survivors.includes(mutant));
for (const mutant of survivors) process.stdout.write(`${described(mutant)}\n`);
const killed = mutants.length - survivors.length - equivalent.length;
const seconds = Math.round((performance.now() - started) / 1000);
process.stdout.write(
  `${mutants.length} changes: ${killed} found, ${equivalent.length} equivalent, ${survivors.length} not found (${seconds} s)\n`,
);
process.exit(survivors.length === 0 ? EXIT.ok : EXIT.failed);

/** Runs the tests beside the changed files, and then those elsewhere that import the file of a change that survived. */
async function testMutants(mutate: readonly string[], { near, workers }: Options): Promise<readonly Mutant[]> {
  const nearest = await runStryker({ mutate, tests: nearTests(mutate), workers });
  if (near) return nearest;
  const killed = new Set<string>();
  const survived = Map.groupBy(nearest.filter(isSurvivor), ({ file }) => file);
  for (const [file, places] of survived) {
    const tests = importingTests(file, process.cwd());
    if (tests.length === 0) continue;
    const run: Run = { mutate: places.map(({ range }) => `${file}:${range}`), tests, workers };
    for (const mutant of await runStryker(run)) if (!isSurvivor(mutant)) killed.add(keyOf(mutant));
  }
  return nearest.map((mutant) => (killed.has(keyOf(mutant)) ? { ...mutant, outcome: "killed" } : mutant));
}

function described({ file, place, original, replacement }: Mutant): string {
  return `${file}:${place}\n  - ${cutTo(SHOWN_CHARACTERS, original)}\n  + ${cutTo(SHOWN_CHARACTERS, replacement)}`;
}
