import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { cutTo, didYouMean, inOneLine } from "#shared/lib/text.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import type { UciSettings } from "#shared/runtime/config/uci.ts";
import { UCI_START_MS } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** The limits of the processes of an engine. */
export interface ProcessLimits {
  /** The maximum number of processes. Further matches share them. */
  readonly processes: number;
  /** The maximum number of processes that are kept without a match. */
  readonly spare: number;
}

const LIMITS: ProcessLimits = { processes: 8, spare: 2 };

/** The process of an engine that plays one match, or several if there are more matches than processes. */
export interface Slot {
  /** The matches that this process plays. */
  readonly matches: Set<object>;
  /** The match whose positions the engine remembers. */
  current: object | null;
  engine: Engine | null;
  /** Resolves when the last search that was asked for is over. */
  queue: Promise<unknown>;
  readonly closing: AbortController;
}

/**
 * The processes of an engine. Each match has a process for itself while there are no more matches than processes, so that
 * matches neither share the engine's memory nor wait for each other. A shared process plays one search at a time and gets
 * `ucinewgame` when it changes between matches. A process that has ended is started again for the next search.
 */
export class EngineSlots {
  readonly #settings: UciSettings;
  readonly #clock: Clock;
  readonly #limits: ProcessLimits;
  readonly #slots = new Set<Slot>();
  #isClosed = false;

  constructor(settings: UciSettings, clock: Clock, limits: ProcessLimits = LIMITS) {
    this.#settings = settings;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Starts a process for the first match. Throws StartError if the engine does not start. */
  async open(): Promise<void> {
    await this.#running(this.#newSlot());
  }

  /** Assigns a process to a match. It is started when it is first used. */
  assign(match: object): Slot {
    const all = [...this.#slots];
    const spare = all.find(({ matches }) => matches.size === 0);
    const isFull = all.length >= this.#limits.processes;
    const [leastUsed] = all.toSorted((one, other) => one.matches.size - other.matches.size);
    const slot = spare ?? ((isFull && leastUsed) || this.#newSlot());
    slot.matches.add(match);
    return slot;
  }

  /** Releases the process of a match that is over. */
  release(match: object, slot: Slot): void {
    slot.matches.delete(match);
    const spare = [...this.#slots].filter(({ matches }) => matches.size === 0);
    for (const unneeded of spare.slice(this.#limits.spare)) {
      this.#slots.delete(unneeded);
      unneeded.closing.abort();
    }
  }

  /** Prepares the process for a match, so that its first search begins immediately. */
  async prepare(match: object, slot: Slot): Promise<void> {
    await this.#inTurn(slot, () => this.#readyFor(match, slot));
  }

  /** Searches for a match, after the earlier searches of its process. A search whose turn ends before is not begun. */
  search(match: object, slot: Slot, search: Search): Promise<Found> {
    return this.#inTurn(slot, async () => {
      if (search.signal.aborted) throw new Error("the turn ended before its search began");
      return (await this.#readyFor(match, slot)).search(search);
    });
  }

  /** Resolves when the processes have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { closing } of this.#slots) closing.abort();
    await Promise.all([...this.#slots].map(({ engine }) => engine?.ended));
  }

  #newSlot(): Slot {
    const closing = new AbortController();
    const slot: Slot = { matches: new Set(), current: null, engine: null, queue: Promise.resolve(), closing };
    this.#slots.add(slot);
    return slot;
  }

  #inTurn<T>(slot: Slot, task: () => Promise<T>): Promise<T> {
    const done = slot.queue.then(task);
    slot.queue = done.catch(() => {});
    return done;
  }

  async #readyFor(match: object, slot: Slot): Promise<Engine> {
    const engine = await this.#running(slot);
    if (slot.current === match) return engine;
    slot.current = null;
    await engine.newMatch();
    slot.current = match;
    return engine;
  }

  async #running(slot: Slot): Promise<Engine> {
    if (this.#isClosed) throw new Error("the player has ended");
    if (slot.engine?.isUp()) return slot.engine;
    slot.current = null;
    slot.engine = await openEngine(this.#settings, slot.closing.signal, this.#clock);
    return slot.engine;
  }
}

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
interface Found {
  /** The move in UCI; "(none)" or "0000" if the engine has found none. */
  readonly move: string;
  /** The score of the last complete iteration, as `cp 35` or `mate -3`; null if the engine has reported none. */
  readonly score: string | null;
}

interface Search {
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
interface Engine {
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
async function openEngine(settings: UciSettings, closing: AbortSignal, clock: Clock): Promise<Engine> {
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

/** An option that an engine has declared. */
interface EngineOption {
  readonly name: string;
  readonly type: string;
  readonly min: number | null;
  readonly max: number | null;
  /** Whether a number of its declaration has decimals, which UCI does not define and some engines use. */
  readonly isDecimal: boolean;
  /** The values of an option of the type `combo`. */
  readonly values: readonly string[];
}

type OptionValue = string | number | boolean;

/** Returns the option that a line of an engine declares (`option name Hash type spin default 16 min 1 max 1024`); null for any other line. */
export function optionIn(line: string): EngineOption | null {
  const [, name, type, rest = ""] = /^option name (.+?) type (\w+)(?: (.*))?$/.exec(line.trim()) ?? [];
  if (name === undefined || type === undefined) return null;
  const number = (key: string): number | null => {
    const [, value] = new RegExp(`(?:^| )${key} ([+-]?\\d+(?:\\.\\d+)?)(?: |$)`).exec(rest) ?? [];
    return value === undefined ? null : Number(value);
  };
  const values = type === "combo" ? rest.split(/(?:^| )var /).slice(1) : [];
  return {
    name,
    type,
    min: number("min"),
    max: number("max"),
    isDecimal: ["default", "min", "max"].some((key) => !Number.isInteger(number(key) ?? 0)),
    values: values.map((value) => value.trim()),
  };
}

/** Returns the command that sets an option, or the reason why the engine does not accept it. */
export function setOption(
  options: readonly EngineOption[],
  wanted: string,
  value: OptionValue,
): Result<string, string> {
  // The names of options and the values of combos are not case sensitive (UCI).
  const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
  const option = options.find(({ name }) => isSame(name, wanted));
  if (!option) {
    const names = options.map(({ name }) => name);
    const known =
      names.length === 0 ? "; it has no options" : didYouMean(wanted, names) || `; it has ${names.join(", ")}`;
    return err(`has no option "${wanted}"${known}`);
  }
  const { name, type, min, max, isDecimal, values } = option;
  const text = String(value);
  const set = (accepted: string): Result<string, string> => ok(`setoption name ${name} value ${accepted}`);
  const fault = (form: string): Result<string, string> =>
    err(`does not accept ${JSON.stringify(value)} for ${name}: give ${form}`);
  switch (type) {
    case "spin": {
      const isNumber = (isDecimal ? /^[+-]?\d+(?:\.\d+)?$/ : /^[+-]?\d+$/).test(text);
      const isInRange =
        Number(text) >= (min ?? Number.NEGATIVE_INFINITY) && Number(text) <= (max ?? Number.POSITIVE_INFINITY);
      const range = `${min === null ? "" : ` from ${min}`}${max === null ? "" : ` to ${max}`}`;
      return isNumber && isInRange ? set(text) : fault(`a ${isDecimal ? "" : "whole "}number${range}`);
    }
    case "check":
      return /^(true|false)$/i.test(text) ? set(text.toLowerCase()) : fault("true or false");
    case "combo": {
      const known = values.find((one) => isSame(one, text));
      return known === undefined ? fault(values.map((one) => `"${one}"`).join(" or ")) : set(known);
    }
    case "button":
      return /^(true)?$/i.test(text) ? ok(`setoption name ${name}`) : fault("true, which presses the button");
    default:
      return set(text === "" ? "<empty>" : text);
  }
}
