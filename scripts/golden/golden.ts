import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { systemClock } from "#shared/lib/clock.ts";
import { counted } from "#shared/lib/text.ts";
import { countOption, withExamples, withUsageExit } from "#shared/runtime/command-options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { type Difference, differencesBetween } from "./differences.ts";
import { DIFFERENT_PLANS, SEEDS } from "./leagues.ts";
import { makeParts } from "./make.ts";
import { PARTS, type Texts } from "./parts.ts";

const RECORD = join(import.meta.dirname, "record");

const program = withUsageExit(new Command("golden")).description(
  "Records what others can see of the program, and compares the program with the record.",
);
withExamples(program, [
  "npm run golden -- compare                       # lists each difference from the record of the repository",
  "npm run golden -- compare --part help servers   # only some parts",
  "npm run golden -- compare --sample              # only the leagues of the first four seeds",
  "npm run golden -- record                        # after an intended change",
  "npm run golden -- record /tmp/before            # a record in another folder",
  "npm run golden -- prove                         # checks that planted changes are found",
]).addHelpText(
  "after",
  `\nParts: ${PARTS.map(({ name }) => name).join(", ")}.\nThe folder of a record has one text for each part.`,
);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

program
  .command("record")
  .description("Writes the record.")
  .argument("[folder]", "folder of the record", RECORD)
  .option("--part <part...>", "only these parts")
  .action(async (folder: string, { part }: { readonly part?: readonly string[] }) => {
    const texts = await made(part, SEEDS);
    write(resolve(folder), texts, part === undefined);
    print(`${counted(texts.size, "file")} written to ${resolve(folder)}`);
  });

program
  .command("compare")
  .description("Prints each difference from the record, by part. Exits with 1 if there is one.")
  .argument("[folder]", "folder of the record", RECORD)
  .option("--part <part...>", "only these parts")
  .option("--sample", `only the leagues of the first ${DIFFERENT_PLANS} seeds, which have all kinds of plans`, false)
  .option("--lines <n>", "how many lines of the differences of each file are printed", countOption, 40)
  .action(async (folder: string, { part, sample, lines }: CompareOptions) => {
    const seeds = sample ? DIFFERENT_PLANS : SEEDS;
    const texts = await made(part, seeds);
    const recorded = [...read(resolve(folder))]
      .filter(([file]) => part === undefined || texts.has(file))
      .map(([file, text]) => [file, file.startsWith("leagues/") ? ofSeeds(text, seeds) : text] as const);
    const differences = differencesBetween(new Map(recorded), texts);
    for (const difference of differences) printDifference(difference, lines);
    print(
      differences.length === 0
        ? `no difference in ${counted(texts.size, "file")}`
        : `${counted(differences.length, "file differs", "files differ")}: ${differences.map(({ file }) => file).join(", ")}`,
    );
    process.exitCode = differences.length === 0 ? EXIT.ok : EXIT.failed;
  });

program
  .command("prove")
  .description("Applies planted changes to copies of the program, one at a time, and checks that each is found.")
  .option("--only <text>", "the changes whose names contain this text")
  .action(async ({ only = "" }: { readonly only?: string }) => {
    const { prove } = await import("./planted-changes.ts");
    process.exitCode = (await prove(only, print)) ? EXIT.ok : EXIT.failed;
  });

interface CompareOptions {
  readonly part?: readonly string[];
  readonly sample: boolean;
  readonly lines: number;
}

/** The lines of the first seeds in a record of leagues. */
const ofSeeds = (text: string, seeds: number): string =>
  text.replaceAll(/^seed (\d+) .*\n/gm, (line, seed) => (Number(seed) <= seeds ? line : ""));

/** Makes the named parts, or all. */
async function made(parts: readonly string[] | undefined, seeds: number): Promise<Texts> {
  const known = PARTS.map(({ name }) => name);
  const unknown = parts?.find((name) => !known.includes(name));
  if (unknown !== undefined) program.error(`error: there is no part ${unknown}; the parts are ${known.join(", ")}`);
  const startedAt = systemClock.monotonic();
  const seconds = (): string => ((systemClock.monotonic() - startedAt) / 1_000).toFixed(1);
  return makeParts(parts ?? known, seeds, (name) => process.stderr.write(`${seconds().padStart(6)} s  ${name}\n`));
}

function printDifference({ file, lines }: Difference, limit: number): void {
  print(`== ${file}`);
  for (const line of lines.slice(0, limit)) print(line);
  if (lines.length > limit) print(`… ${counted(lines.length - limit, "more line")}; --lines prints them`);
  print("");
}

/** Writes the files of a record. `isComplete`: files of an earlier record that the program no longer gives are removed. */
function write(folder: string, texts: Texts, isComplete: boolean): void {
  if (isComplete) for (const file of read(folder).keys()) rmSync(join(folder, file));
  for (const [file, text] of texts) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

/** Reads the files of a record. */
function read(folder: string): Texts {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".txt"));
  return new Map(files.map((file) => [file.replaceAll("\\", "/"), readFileSync(join(folder, file), "utf8")]));
}

await program.parseAsync();
