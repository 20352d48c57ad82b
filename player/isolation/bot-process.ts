import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import {
  type FromBotProcess,
  MAX_MESSAGE_BYTES,
  PIPES,
  type Question,
  type ThrownError,
  type ToBotProcess,
} from "../bot-process/messages.ts";
import { BOT_PROCESS } from "./permissions.ts";

/** A process that answers no ping for this long has a blocked event loop. */
const PING_MS = 1_000;
/** The time that a process has to write its last lines. */
const END_MS = 1_000;
const MAX_LINE_BYTES = 16 * 1024;
/** The exit code of Node.js if a top-level await does not end. */
const UNSETTLED = 13;

const Denied = z.object({ permission: z.string(), resource: z.string() });
const Thrown = z.union([
  z.string(),
  z.object({ name: z.string(), message: z.string(), stack: z.string(), denied: Denied.optional() }),
]);
/** Messages are untrusted, because the code of the bot can write to the same pipe. */
const Message: z.ZodType<FromBotProcess> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("loaded"), games: z.array(z.string()).optional() }),
  z.object({ type: z.literal("not_loaded"), fault: z.string().optional(), thrown: Thrown.optional() }),
  z.object({ type: z.literal("answer"), id: z.int(), value: z.unknown().optional() }),
  z.object({ type: z.literal("threw"), id: z.int(), thrown: Thrown }),
  z.object({ type: z.literal("no_action"), id: z.int(), fault: z.string() }),
  z.object({ type: z.literal("over_memory") }),
  z.object({ type: z.literal("log"), match: z.int(), line: z.string() }),
]);

/** An error that the code of a bot threw. */
export class BotError extends Error {
  readonly thrown: ThrownError | string;

  constructor(thrown: ThrownError | string) {
    super(typeof thrown === "string" ? thrown : thrown.message);
    this.thrown = thrown;
  }
}

/** The process of the bot ended before it answered. The message names the exit code, the signal or the cause. */
export class ProcessEnded extends Error {}

/** How a process is started. */
interface BotProgram {
  readonly file: string;
  readonly nodeOptions: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly memoryMb: number;
  /** The address at which the process waits for a debugger; null for none. */
  readonly inspect: string | null;
}

interface Listener {
  /** Called with each line that the bot has written. `match` is null for lines on stdout and stderr. */
  line(text: string, match: number | null): void;
  /** Called when the process has ended. */
  ended(process: BotProcess): void;
}

/** A process that runs the code of a bot file. */
export class BotProcess {
  /** Resolves when the bot is loaded, with the ids of its games, or undefined for all games. Rejects with BotError, with Error for a file that is not a bot, or with ProcessEnded. */
  readonly loaded: Promise<readonly string[] | undefined>;
  /** The numbers of the matches that the process plays. */
  readonly matches = new Set<number>();
  readonly #child: ChildProcess;
  readonly #messages: Writable;
  readonly #clock: Clock;
  readonly #isDebugged: boolean;
  readonly #memoryMb: number;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #closing = Promise.withResolvers<void>();
  readonly #loading = Promise.withResolvers<readonly string[] | undefined>();
  #questions = 0;
  /** The reason for which the process was ended. */
  #endedBecause: string | null = null;
  #hasEnded = false;
  #isLoaded = false;
  #check: Promise<void> | null = null;

  constructor({ file, nodeOptions, environment, memoryMb, inspect }: BotProgram, clock: Clock, listener: Listener) {
    this.#clock = clock;
    this.#isDebugged = inspect !== null;
    this.#memoryMb = memoryMb;
    this.loaded = this.#loading.promise;
    this.loaded.catch(() => {}); // the caller that awaits it handles the error
    const options = [...nodeOptions, ...(inspect === null ? [] : ["--allow-inspector"])];
    const args = [file, String(memoryMb), ...(inspect === null ? [] : [inspect])];
    // The bot can write to each of its pipes. The channel of `fork` would let it crash this process with an invalid message.
    const stdio = ["ignore", "pipe", "pipe", "pipe", "pipe"] as const;
    this.#child = spawn(process.execPath, [...options, BOT_PROCESS, ...args], { env: environment, stdio: [...stdio] });
    this.#messages = this.#child.stdio[PIPES.fromPlayer] as Writable;
    // "close" reports the end of the process.
    for (const emitter of [this.#child, this.#messages]) emitter.on("error", () => {});
    readLines(this.#child.stdio[PIPES.toPlayer] as Readable, MAX_MESSAGE_BYTES, {
      line: (text) => this.#receive(parsedJson(text), listener),
      tooLong: () => {},
      end: () => {},
    });
    for (const output of [this.#child.stdout, this.#child.stderr]) {
      if (output === null) continue;
      readLines(output, MAX_LINE_BYTES, {
        line: (text) => listener.line(text, null),
        tooLong: () => listener.line(`a line of more than ${MAX_LINE_BYTES} bytes`, null),
        end: () => {},
      });
    }
    // "close" comes after the last line of stderr, which usually names the cause.
    this.#child.once("close", (code, signal) => {
      this.#hasEnded = true;
      const error = new ProcessEnded(this.#endedBecause ?? endOf(code, signal));
      this.#loading.reject(error);
      for (const { reject } of this.#open.values()) reject(error);
      this.#open.clear();
      listener.ended(this);
      this.#closing.resolve();
    });
  }

  /** Whether the process answers no further questions, because it has ended or is about to end. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Asks the bot. Rejects with BotError if its code throws, with Error if it returns no action, or with ProcessEnded. When the signal is aborted, the signal of
   * the bot's turn is aborted, and the process is terminated if the code of the bot blocks it. If the bot still does not answer, the promise rejects.
   */
  async ask(question: Question, signal?: AbortSignal): Promise<unknown> {
    if (this.#hasEnded) throw new ProcessEnded("the bot's process has ended");
    const id = this.#questions++;
    const answer = Promise.withResolvers<unknown>();
    this.#open.set(id, answer);
    this.#send({ id, question });
    const abort = (): void => {
      this.#send({ abort: id });
      void this.check().then(
        () => this.#isDebugged || this.#take(id)?.reject(new Error("the bot did not answer in time")),
      );
    };
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await answer.promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends the process if its event loop is blocked. Resolves when it answers or has ended. */
  check(): Promise<void> {
    if (this.#isDebugged) return Promise.resolve(); // the process may be paused at a breakpoint
    if (this.#check !== null) return this.#check;
    const reason = "the bot blocked its process for longer than its time limit";
    const cancel = this.#clock.after(PING_MS, () => this.kill(reason));
    const checked = (): void => {
      cancel();
      this.#check = null;
    };
    this.#check = this.ask({ type: "ping" }).then(checked, checked);
    return this.#check;
  }

  /** The bot gets no further message of a match. */
  drop(match: number): void {
    this.matches.delete(match);
    this.#send({ drop: match });
  }

  /** Lets the process end when it has written its last lines. Resolves when they are read and the process has ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#messages.end(); // also writes the messages that wait
    const cancel = this.#clock.after(END_MS, () => this.kill());
    await this.#closing.promise;
    cancel();
  }

  /** Ends the process without further messages. `reason` is the message of the ProcessEnded of open questions. */
  kill(reason: string | null = null): void {
    this.#hasEnded = true;
    this.#endedBecause = reason;
    this.#child.kill("SIGKILL");
  }

  /** Sends a message. The messages of one turn of the event loop are written together, because each write takes longer than the message. */
  #send(message: ToBotProcess): void {
    if (!this.#messages.writable) return;
    if (!this.#messages.writableCorked) {
      this.#messages.cork();
      this.#clock.defer(() => this.#messages.uncork());
    }
    this.#messages.write(`${JSON.stringify(message)}\n`);
  }

  #receive(received: unknown, listener: Listener): void {
    const { success, data: message } = Message.safeParse(received);
    if (!success) return; // sent by the code of the bot
    switch (message.type) {
      case "loaded":
        this.#isLoaded = true;
        this.#loading.resolve(message.games);
        break;
      case "not_loaded": {
        const { fault, thrown } = message;
        this.#loading.reject(thrown === undefined ? new Error(fault) : new BotError(thrown));
        break;
      }
      case "answer":
        this.#take(message.id)?.resolve(message.value);
        break;
      case "threw":
        this.#take(message.id)?.reject(new BotError(message.thrown));
        break;
      case "no_action":
        this.#take(message.id)?.reject(new Error(message.fault));
        break;
      case "over_memory": {
        const reason = `the bot used more than ${this.#memoryMb} MB of memory; --allow-memory MB allows more`;
        if (this.#isLoaded && this.#open.size === 0) listener.line(reason, null); // no promise rejects with the reason
        this.kill(reason);
        break;
      }
      case "log":
        listener.line(message.line, message.match);
    }
  }

  #take(id: number): PromiseWithResolvers<unknown> | undefined {
    const answer = this.#open.get(id);
    this.#open.delete(id);
    return answer;
  }
}

function endOf(code: number | null, signal: string | null): string {
  if (code === UNSETTLED) return "an await at the top level of the bot does not end";
  return `the bot's process ended ${signal === null ? `with code ${code}` : `by ${signal}`}`;
}

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
