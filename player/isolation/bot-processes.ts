import type { Clock } from "#shared/lib/clock.ts";
import { BotProcess, type BotProgram } from "./bot-process.ts";

/** The maximum number of processes of a player by default. Further matches share them. */
const MAX_PROCESSES = 8;
/** The maximum number of processes that are kept without a match. */
const MAX_SPARE = 2;

/** The maximum number of characters that are kept of the output in a match, and of the output of a process outside of matches. */
const MAX_OUTPUT = 1_000_000;

type ShowLine = (line: string) => void;

/** The processes that run the code of a bot file. Each match has a separate process while at most `maxProcesses` matches are under way. */
export class BotProcesses {
  readonly #program: BotProgram;
  readonly #maxProcesses: number;
  readonly #clock: Clock;
  /** Shows a line that belongs to no match. */
  readonly #showLine: ShowLine;
  readonly #processes = new Set<BotProcess>();
  /** Shows a line of a match, by the number of the match. */
  readonly #matches = new Map<number, ShowLine>();
  #lastMatch = 0;

  constructor(program: BotProgram, clock: Clock, showLine: ShowLine, maxProcesses = MAX_PROCESSES) {
    this.#program = program;
    this.#maxProcesses = program.inspect === null ? maxProcesses : 1;
    this.#clock = clock;
    this.#showLine = showLine;
  }

  /** Starts a process that waits for a match. */
  start(): BotProcess {
    const showOther = limited(this.#showLine);
    const process = new BotProcess(this.#program, this.#clock, {
      line: (text, match) => (this.#linesOf(process, match) ?? showOther)(text),
      ended: () => this.#processes.delete(process),
    });
    this.#processes.add(process);
    return process;
  }

  /** Returns a number for a match. `showLine` shows what the bot writes in it. */
  newMatch(showLine: ShowLine): number {
    this.#matches.set(++this.#lastMatch, limited(showLine));
    return this.#lastMatch;
  }

  /**
   * Assigns a process to a match. The oldest process without a match is used, so that one process plays consecutive matches and its
   * bot can learn from them.
   */
  assign(match: number): BotProcess {
    const all = [...this.#processes].filter(({ hasEnded }) => !hasEnded);
    const spare = all.find(({ matches }) => matches.size === 0);
    const isFull = all.length >= this.#maxProcesses;
    const [leastUsed] = all.toSorted((one, other) => one.matches.size - other.matches.size);
    const process = spare ?? ((isFull && leastUsed) || this.start());
    process.matches.add(match);
    return process;
  }

  /** Releases the process of a match that is over. */
  release(match: number, process: BotProcess | null): void {
    this.#matches.delete(match);
    process?.matches.delete(match);
    const spare = [...this.#processes].filter(({ matches }) => matches.size === 0);
    for (const unneeded of spare.slice(MAX_SPARE)) void unneeded.end();
  }

  /** Ends the processes. Resolves when the last lines that they have written are shown. */
  async close(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.end()));
  }

  /** Returns the function that shows a line of a match. A line without a match belongs to the match of its process if it has only one. */
  #linesOf({ matches }: BotProcess, match: number | null): ShowLine | undefined {
    const [only, second] = matches;
    const owner = match ?? (second === undefined ? only : undefined);
    return this.#matches.get(owner ?? 0);
  }
}

/** Shows lines up to the limit, so that the output of a bot cannot fill the disk. */
function limited(showLine: ShowLine): ShowLine {
  let left = MAX_OUTPUT;
  return (line) => {
    if (left <= 0) return;
    left -= line.length;
    showLine(left > 0 ? line : `the bot has written ${MAX_OUTPUT} characters; further lines are not kept`);
  };
}
