import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { cutTo, inOneLine } from "#shared/lib/text.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import type { UciSettings } from "#shared/runtime/config/uci.ts";
import { UCI_START_MS } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { type EngineOption, optionIn, setOption } from "./uci-options.ts";

/** The time that an engine has to end a search after `stop`. */
const STOP_MS = 1_000;
/** The time that an engine has to save its data after `quit`. */
const QUIT_MS = 2_000;
/** The smallest number of positions above a limit at which a search is stopped. Engines check their limit now and then only. */
const MIN_EXCESS = 10_000;
const MAX_LINE_BYTES = 1_000_000;
/** The maximum number of characters of an engine's last line on stderr that are shown. */
const MAX_SHOWN = 300;
/** The exit code of a shell that does not find the command. */
const NOT_FOUND = 127;
const READY = /^readyok\b/;
const NO_UCI = "speaks no UCI, or needs an option for it, as gnuchess needs --uci: it did not answer uciok";
/** The folder of the engines of Debian, which is missing in the PATH of some users. */
const DEBIAN_GAMES = "/usr/games";

/** The result of a search. */
export interface Found {
  /** The move in UCI; "(none)" or "0000" if the engine has found none. */
  readonly move: string;
  /** The score of the last complete iteration, as `cp 35` or `mate -3`; null if the engine has reported none. */
  readonly score: string | null;
}

export interface Search {
  /** The command `position …`. */
  readonly position: string;
  /** Returns the command `go …`. It is called when the search begins. */
  go(): string;
  /** The limit of positions in `go`; null for none. An engine that ignores it is stopped when it reports about twice as many. */
  readonly nodes: number | null;
  /** Ends the search when it is aborted. */
  readonly signal: AbortSignal;
}

/** The process of an engine that has answered `uci` and has set its options. */
export interface Engine {
  isUp(): boolean;
  /** Clears what the engine remembers of the previous match. */
  newMatch(): Promise<void>;
  /** Resolves with the best move when the search is over or `signal` is aborted. Terminates an engine that ignores `stop`. */
  search(search: Search): Promise<Found>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
}

/** The engines that this process has started. They must not outlive it. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

interface Waiting {
  /** Reads a line of the engine. Returns whether it is the awaited answer. */
  readonly isAnswer: (line: string) => boolean;
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

/** The command of an engine as a user has written it. */
export const nameOf = ({ command }: Pick<UciSettings, "command">): string =>
  typeof command === "string" ? command : command.join(" ");

/** Starts an engine, which runs until `closing` is aborted. Throws StartError if it does not answer, or does not accept its options. */
export async function openEngine(settings: UciSettings, closing: AbortSignal, clock: Clock): Promise<Engine> {
  if (!existsSync(settings.folder))
    throw new StartError(`engine "${nameOf(settings)}": no such folder: ${settings.folder}`, EXIT.config);
  const engine = new EngineProcess(settings, closing, clock);
  try {
    await engine.handshake();
  } catch (thrown) {
    engine.quit();
    throw new StartError(messageOf(thrown), EXIT.config);
  }
  return engine;
}

class EngineProcess implements Engine {
  readonly #settings: UciSettings;
  readonly #label: string;
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  readonly #child: ChildProcess;
  #failure: string | null = null;
  #waiting: Waiting | null = null;
  #lastError = "";
  #isReady = false;
  readonly ended: Promise<void>;

  constructor(settings: UciSettings, closing: AbortSignal, clock: Clock) {
    this.#settings = settings;
    this.#label = `engine "${nameOf(settings)}"`;
    this.#clock = clock;
    this.#closing = closing;
    this.#child = launch(settings);
    closing.addEventListener("abort", this.quit);
    this.#child.on("error", (error) => {
      this.#fail("code" in error && error.code === "ENOENT" ? this.#endOf(NOT_FOUND, null) : error.message);
    });
    // "close" comes after the last line of stderr, which usually names the cause.
    this.#child.on("close", (code, signal) => this.#fail(this.#endOf(code, signal)));
    running.add(this.#child);
    this.ended = new Promise((resolve) => {
      for (const event of ["exit", "error"]) {
        this.#child.once(event, () => {
          running.delete(this.#child);
          resolve();
        });
      }
    });
    this.#child.stdin?.on("error", () => {}); // "close" reports the cause
    const { stdout, stderr } = this.#child;
    if (stdout)
      readLines(stdout, MAX_LINE_BYTES, {
        tooLong: () => {}, // only a line for people can be so long
        line: (text) => this.#receive(withSingleSpaces(text)),
        end: () => {},
      });
    if (stderr) {
      const keep = (text: string): void => {
        this.#lastError = cutTo(MAX_SHOWN, inOneLine(text));
      };
      readLines(stderr, MAX_LINE_BYTES, { tooLong: () => {}, line: keep, end: () => {} });
    }
  }

  isUp(): boolean {
    return this.#failure === null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async handshake(): Promise<void> {
    const options: EngineOption[] = [];
    const isAnswer = (line: string): boolean => {
      options.push(...[optionIn(line)].filter((option) => option !== null));
      return /^uciok\b/.test(line);
    };
    await this.#within(NO_UCI, () => this.#ask("uci", isAnswer));
    const commands = Object.entries(this.#settings.options).map(([name, value]) => {
      const command = setOption(options, name, value);
      if (command.ok) return command.value;
      throw new Error(`${this.#label} ${command.error}`);
    });
    await this.#ready(commands, "did not answer readyok");
    this.#isReady = true;
  }

  async newMatch(): Promise<void> {
    await this.#ready(["ucinewgame"], "did not answer readyok after ucinewgame");
  }

  async search({ position, go, nodes, signal }: Search): Promise<Found> {
    let cancelStop: Cancel | undefined;
    const stop = (): void => {
      if (cancelStop) return;
      this.#child.stdin?.write("stop\n");
      cancelStop = this.#clock.after(STOP_MS, () => this.#terminate(`${this.#label} did not stop in ${STOP_MS} ms`));
    };
    let isReady = false;
    let score: string | null = null;
    const isAnswer = (line: string): boolean => {
      if (!isReady) {
        isReady = READY.test(line);
        return false;
      }
      score = scoreIn(line) ?? score;
      if (nodes !== null && nodesIn(line) > nodes + Math.max(nodes, MIN_EXCESS)) stop();
      return /^bestmove\b/.test(line);
    };
    try {
      if (signal.aborted) throw new Error("the turn ended before its search began");
      signal.addEventListener("abort", stop);
      // An engine may have answered the last search twice, for example a `stop` that it read after its answer. The second answer comes before `readyok`.
      const line = await this.#ask(`isready\n${position}\n${go()}`, isAnswer);
      return { move: line.split(" ")[1]?.toLowerCase().replaceAll(/[-x=]/g, "") ?? "", score };
    } finally {
      signal.removeEventListener("abort", stop);
      cancelStop?.();
    }
  }

  /** Asks the engine to end, and terminates it if it does not. */
  quit = (): void => {
    this.#child.stdin?.end("quit\n");
    const cancel = this.#clock.after(QUIT_MS, () => this.#child.kill("SIGKILL"));
    void this.ended.then(cancel);
  };

  #ask(text: string, isAnswer: Waiting["isAnswer"]): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(new Error(this.#failure));
      this.#waiting = { isAnswer, resolve, reject };
      this.#child.stdin?.write(`${text}\n`);
    });
  }

  /** Sends commands. Resolves when the engine has carried them out. */
  #ready(commands: readonly string[], missing: string): Promise<void> {
    return this.#within(missing, () => this.#ask([...commands, "isready"].join("\n"), (line) => READY.test(line)));
  }

  /** Terminates the engine if `task` is not done in the time of its settings. */
  async #within(missing: string, task: () => Promise<unknown>): Promise<void> {
    const ms = this.#settings.start_ms ?? UCI_START_MS;
    const cancel = this.#clock.after(ms, () =>
      this.#terminate(`${this.#label} ${missing} in ${ms} ms; start_ms sets this time`),
    );
    try {
      await task();
    } finally {
      cancel();
    }
  }

  #receive(line: string): void {
    const waiting = this.#waiting;
    if (!waiting?.isAnswer(line)) return;
    this.#waiting = null;
    waiting.resolve(line);
  }

  #terminate(reason: string): void {
    this.#fail(reason);
    this.#child.kill("SIGKILL");
  }

  #fail(reason: string): void {
    this.#closing.removeEventListener("abort", this.quit);
    this.#failure ??= reason;
    this.#waiting?.reject(new Error(this.#failure));
    this.#waiting = null;
  }

  #endOf(code: number | null, signal: string | null): string {
    if (code === NOT_FOUND) return `there is no engine "${nameOf(this.#settings)}": install it, or give its path`;
    const cause = this.#lastError === "" ? "" : `: ${this.#lastError}`;
    const early = this.#isReady ? "" : " before it answered uciok and readyok";
    return `${this.#label} ended ${signal === null ? `with code ${code}` : `by ${signal}`}${early}${cause}`;
  }
}

/** Commands with these characters or with variables are run by a shell that waits for them. */
const NEEDS_SHELL = /[;&|()`\n]|^\s*\w+=/;

function launch({ command, folder }: UciSettings): ChildProcess {
  // With `exec` the engine takes the place of the shell, so that it is the process that is terminated.
  const asText = (text: string): string => (NEEDS_SHELL.test(text) ? text : `exec ${text}`);
  const [file = "", ...args] = typeof command === "string" ? [asText(command)] : command;
  const env = { ...process.env, PATH: [process.env.PATH, DEBIAN_GAMES].filter(Boolean).join(delimiter) };
  return spawn(file, args, { cwd: folder, env, shell: typeof command === "string", stdio: "pipe" });
}

const OTHER_SPACES = /\s\s|[^\S ]/;

/** Returns a line without spaces at its ends and with one space between its words. An engine writes thousands of lines a second, most of which are so already. */
const withSingleSpaces = (text: string): string =>
  OTHER_SPACES.test(text) ? text.trim().replaceAll(/\s+/g, " ") : text.trim();

/** Returns the number of positions that a line `info … nodes 153 …` reports; 0 for any other line. */
export const nodesIn = (line: string): number => Number(/^info\b(?! string).* nodes (\d+)/.exec(line)?.[1] ?? 0);

/** Returns the score of a line `info … score cp 35 …`; null for any other line, a bound, and further lines of play of one position. */
export function scoreIn(line: string): string | null {
  const [, unit, value, bound] =
    /^info\b(?! string).* score (cp|mate) \+?(-?\d{1,6})\b(?: (lowerbound|upperbound))?/.exec(line) ?? [];
  const [, variation = "1"] = / multipv (\d+)/.exec(line) ?? [];
  return unit === undefined || bound !== undefined || variation !== "1" ? null : `${unit} ${value}`;
}
