import { spawn } from "node:child_process";
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { countOption, withUsageExit } from "#shared/runtime/cli/options.ts";
import { temporaryFolder } from "../bench/process.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { MUTATIONS } from "./mutations/mutations.ts";

const command = withUsageExit(new Command("simulate-mutations"))
  .description(
    "Checks that the simulation finds faults: applies each deliberate fault to a copy of the source and simulates it.",
  )
  .option("--seeds <n>", "how many seeds may be needed to find a fault", countOption, 300)
  .option("--only <text>", "the faults whose names contain this text")
  .parse();
const { seeds, only = "" } = command.opts<{ seeds: number; only?: string }>();

const CONCURRENCY = 2;
const SHOWN_CHARACTERS = 110;
const NOT_COPIED = new Set([".git", "node_modules", "data"]);
const project = join(import.meta.dirname, "../..");

/** Simulates a mutated copy of the project. Resolves with the first fault in the output, or with null. */
async function firstFault({ file, from, to }: Mutation): Promise<string | null> {
  const copy = temporaryFolder();
  try {
    cpSync(project, copy, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
    symlinkSync(join(project, "node_modules"), join(copy, "node_modules"));
    const path = join(copy, file);
    writeFileSync(path, mutated(readFileSync(path, "utf8"), from, to, file));
    const args = ["scripts/simulation/simulate.ts", "--seeds", String(seeds), "--workers", "1", "--until-failure"];
    const child = spawn(process.execPath, args, { cwd: copy, stdio: ["ignore", "pipe", "pipe"] });
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const fault = /^(seed \S+|a long league) .*\n {2}(.*)$/m.exec(out)?.slice(1).join(": ");
    if (fault === undefined && out !== `${seeds} passed\n`) throw new Error(`${file}: ${error}`);
    return fault ?? null;
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
let missed = 0;
async function processQueue(): Promise<void> {
  for (let mutation = queue.shift(); mutation; mutation = queue.shift()) {
    const fault = await firstFault(mutation);
    if (fault === null) missed++;
    process.stdout.write(`${mutation.name.padEnd(62)} ${fault?.slice(0, SHOWN_CHARACTERS) ?? "NOT FOUND"}\n`);
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, processQueue));
process.stdout.write(missed === 0 ? "every fault was found\n" : `${missed} faults were not found\n`);
process.exit(missed > 0 ? 1 : 0);
