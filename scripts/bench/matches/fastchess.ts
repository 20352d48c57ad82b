import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { z } from "zod";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { cpuOf, median, ROOT, temporaryFolder } from "../process.ts";

/**
 * `FASTCHESS=/path/to/fastchess node scripts/bench/matches/fastchess.ts` plays the same games with fastchess and with `league match`, in alternating
 * runs, and prints the ratio of their games per second. Compare only figures of one run, because other programs use the processors too.
 */
const options = withUsageExit(new Command("bench-fastchess"))
  .description(
    "Compares the games per second of `league match` with those of fastchess, whose program FASTCHESS names.",
  )
  .option("--engine <path>", "engine that plays against itself", "/usr/games/stockfish")
  .option("--games <n>", "games of each run", countOption, 40)
  .option("--runs <n>", "runs of each program and setting", countOption, 3)
  .option("--concurrency <n>", "games at the same time", countOption, availableParallelism())
  .option("--settings <setting...>", "nodes=N, or a clock such as 0.2+0.002", ["nodes=500", "nodes=20000", "0.2+0.002"])
  .parse()
  .opts<{ engine: string; games: number; runs: number; concurrency: number; settings: string[] }>();

/** The number of moves of each side after which a game is a draw. */
const MAX_MOVES = 60;
const BOOK = `rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2
rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2
rnbqkbnr/pppp1ppp/8/4p3/2P5/8/PP1PPPPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pp2pppp/2p5/3p4/3P4/2N5/PPP1PPPP/R1BQKBNR w KQkq - 0 3
`;

/** The part of the result of `league match --json` with the faults. */
const Result = z.object({
  pairs: z.array(z.object({ forfeits: z.record(z.string(), z.record(z.string(), z.number())) })),
});

interface Run {
  readonly ms: number;
  /** Seconds of processor time of the program, without its engines. */
  readonly cpuSeconds: number;
  readonly timeLosses: number;
}

const fastchess = process.env.FASTCHESS ?? "";
if (fastchess === "") {
  process.stderr.write("error: FASTCHESS names no program: FASTCHESS=/path/to/fastchess\n");
  process.exit(EXIT.usage);
}
const folder = temporaryFolder();
const book = join(folder, "book.epd");
writeFileSync(book, BOOK);
for (const setting of options.settings) await compare(setting);
process.exit();

/** Prints the runs of one setting, and the median of their ratios. */
async function compare(setting: string): Promise<void> {
  const ratios: number[] = [];
  for (let run = 0; run < options.runs; run++) {
    const theirs = await runFastchess(setting);
    const ours = await runLeagueMatch(setting);
    ratios.push(theirs.ms / ours.ms);
    process.stdout.write(`${setting}: fastchess ${inWords(theirs)}; league match ${inWords(ours)}\n`);
  }
  process.stdout.write(
    `${setting}: league match plays ${median(ratios).toFixed(2)} of the games per second (median)\n`,
  );
}

function inWords({ ms, cpuSeconds, timeLosses }: Run): string {
  return `${((options.games * 1_000) / ms).toFixed(2)} games/s, CPU ${cpuSeconds.toFixed(2)} s, ${timeLosses} lost on time`;
}

async function runFastchess(setting: string): Promise<Run> {
  const engine = (name: string, hash: number) => [
    "-engine",
    `cmd=${options.engine}`,
    `name=${name}`,
    `option.Hash=${hash}`,
  ];
  const limit = setting.includes("=") ? setting : `tc=${setting}`;
  const { text, ...run } = await timed(fastchess, [
    ...engine("A", 16),
    ...engine("B", 17),
    "-each",
    limit,
    "-maxmoves",
    `${MAX_MOVES}`,
    "-rounds",
    `${Math.ceil(options.games / 2)}`,
    "-games",
    "2",
    "-repeat",
    "-concurrency",
    `${options.concurrency}`,
    "-openings",
    `file=${book}`,
    "format=epd",
    "order=sequential",
  ]);
  return { ...run, timeLosses: text.match(/Finished game.*loses on time/g)?.length ?? 0 };
}

async function runLeagueMatch(setting: string): Promise<Run> {
  const limit = setting.includes("=") ? `${setting},` : "";
  const engine = (hash: number) => `uci:${options.engine}#${limit}option.Hash=${hash}`;
  const { text, ...run } = await timed(process.execPath, [
    "--require",
    "./shared/runtime/compile-cache.cjs",
    "scripts/league.ts",
    "match",
    engine(16),
    engine(17),
    "--game",
    "chess",
    "--option",
    `max_plies=${2 * MAX_MOVES}`,
    "--games",
    `${options.games}`,
    "--json",
    "--quiet",
    "--concurrency",
    `${options.concurrency}`,
    "--openings",
    book,
    "--openings-order",
    "sequential",
    "--data",
    folder,
    ...(limit === "" ? ["--clock", setting] : []),
  ]);
  const faults = Result.parse(JSON.parse(text)).pairs.flatMap(({ forfeits }) => Object.values(forfeits));
  return { ...run, timeLosses: faults.reduce((sum, { clock = 0, timeout = 0 }) => sum + clock + timeout, 0) };
}

/** Runs a program to its end. Resolves with its output, its duration and its processor time, which is read every 20 ms. */
async function timed(
  command: string,
  args: readonly string[],
): Promise<Omit<Run, "timeLosses"> & { readonly text: string }> {
  const startedAt = performance.now();
  const cwd = command === process.execPath ? ROOT : folder;
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  let cpu = 0;
  const poll = setInterval(() => {
    cpu = Math.max(cpu, cpuOf(child.pid ?? 0));
  }, 20);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearInterval(poll);
  if (code !== 0) throw new Error(`${command} ended with code ${code}: ${text.slice(-1_000)}`);
  return { text, ms: performance.now() - startedAt, cpuSeconds: cpu / 1e6 };
}
