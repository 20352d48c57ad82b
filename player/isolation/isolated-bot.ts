import { realpathSync } from "node:fs";
import { findGameNamed } from "#shared/games/registry.ts";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import { whereThrown } from "#shared/runtime/files/thrown-position.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { DeniedAccess, ThrownError, TurnData } from "../bot-process/messages.ts";
import { type BotHome, hashOfImports, type LoadedBot, LoggedFault, type MatchBot } from "../loaded-bot.ts";
import { isWithdrawn } from "../matches/player.ts";
import { seedOf } from "../matches/turn.ts";
import type { MatchInfo, Turn } from "../sdk.ts";
import { BotError, type BotProcess, BotProcesses, ProcessEnded } from "./bot-process.ts";
import { codeFilesOf, environmentOf, nodeOptions } from "./permissions.ts";

/** The time limit of `start` and `end`. If one of them blocks the process for longer, the process is terminated. */
const HOOK_MS = 5_000;
/** The time after which a line on the terminal reports that a file has not finished loading. */
const SLOW_LOAD_MS = 5_000;
/** The time that the first process has to load the file, also on a slow machine. A debugger may stop the file for longer. */
const FIRST_LOAD_MS = 30_000;
const LOAD_ADVICE = "Look for a loop or an await that does not end at its top level";
/** The time that a process has to create an object of the bot, before its first match. */
const EXAMINE_MS = 2_000;
/** The time that a process has to load the file, after the player has loaded it once. */
const LOAD_MS = 10_000;

/**
 * Loads a .ts or .js file as a bot whose code runs in other processes, with Node's permissions (docs/security.md). If the bot blocks
 * or ends its process, or exceeds the memory limit, `choose` rejects and the next turn starts another process. Throws StartError (exit code 3) if the file does not load.
 */
export async function isolatedBot(path: string, name: string, clock: Clock, home: BotHome): Promise<LoadedBot> {
  const file = realpathSync(path); // Node.js reads a module at its real path
  const { allow, inspect, maxProcesses } = home;
  const { files, ofBot, fault } = await codeFilesOf(file);
  const program = { file, nodeOptions: nodeOptions(files, allow), environment: environmentOf(allow), inspect };
  const processes = new BotProcesses({ ...program, memoryMb: allow.memory_mb }, clock, home.warn, maxProcesses);
  const first = processes.start();
  const cancel = inspect === null ? limitLoading(first, name, clock, home.warn) : () => {};
  let games: readonly string[] | undefined;
  try {
    games = await first.loaded;
  } catch (thrown) {
    throw new StartError(loadFault(thrown, { file, name, fault }), EXIT.config);
  } finally {
    cancel();
  }
  const invalid = inspect === null ? await faultOfObjects(first, clock) : null;
  if (invalid !== null) throw new StartError(`${name}: ${invalid}`, EXIT.config);
  return {
    name,
    hash: hashOfImports(file, ofBot),
    ...(games && { games: games.map((game) => findGameNamed(game)?.id ?? game) }),
    readsHistory: true,
    create: (log) => new IsolatedMatch({ processes, log, clock, file, name }),
    close: () => processes.close(),
  };
}

/** Warns if a process has not loaded the file after `SLOW_LOAD_MS`, and terminates it after `FIRST_LOAD_MS`. Returns the function that cancels both. */
function limitLoading(process: BotProcess, name: string, clock: Clock, warn: (line: string) => void): Cancel {
  const cancelWarning = clock.after(SLOW_LOAD_MS, () => warn(`${name} does not finish loading. ${LOAD_ADVICE}`));
  const cancelLimit = clock.after(FIRST_LOAD_MS, () =>
    process.kill(`it did not finish within ${FIRST_LOAD_MS / 1_000} s. ${LOAD_ADVICE}`),
  );
  return () => {
    cancelWarning();
    cancelLimit();
  };
}

/** Resolves with the reason why the objects of a bot are invalid. Errors of its code, which may also block or end the process, are shown in its matches. */
async function faultOfObjects(process: BotProcess, clock: Clock): Promise<string | null> {
  try {
    const fault = await process.ask({ type: "examine" }, clock.timeout(EXAMINE_MS));
    return typeof fault === "string" ? fault : null;
  } catch {
    return null;
  }
}

/** `fault` names an import that was not found, with its line. The process could then not read any import of the bot file. */
function loadFault(
  thrown: unknown,
  bot: { readonly file: string; readonly name: string; readonly fault: string | null },
) {
  const { file, name, fault } = bot;
  if (thrown instanceof BotError) {
    // Node.js names no line for an import that is missing.
    const isSyntaxError = typeof thrown.thrown !== "string" && thrown.thrown.name === "SyntaxError";
    const text = isSyntaxError || fault === null ? textOf(thrown.thrown, file) : fault;
    return `${name} does not load: ${text}`;
  }
  const { message } = thrown as Error;
  return thrown instanceof ProcessEnded ? `${name} does not load: ${message}` : `${name}: ${message}`;
}

interface MatchParts {
  readonly processes: BotProcesses;
  readonly log: (line: string) => void;
  readonly clock: Clock;
  readonly file: string;
  readonly name: string;
}

/** Plays one match in a process. If the process ends, the next turn begins the match again in another one, with the history. */
class IsolatedMatch implements MatchBot {
  readonly #parts: MatchParts;
  readonly #match: number;
  #info: MatchInfo | null = null;
  #process: BotProcess | null = null;
  #begun: Promise<void> = Promise.resolve();
  /** The number of entries of the history that the process has received. */
  #sent = 0;
  #openTurns = 0;
  #lastShown: unknown = null;

  constructor(parts: MatchParts) {
    this.#parts = parts;
    this.#match = parts.processes.newMatch(parts.log);
  }

  async start(info: MatchInfo): Promise<void> {
    this.#info = info;
    try {
      await this.#running();
    } catch (thrown) {
      this.#show(thrown);
    }
  }

  async choose(turn: Turn): Promise<unknown> {
    try {
      const process = await this.#running();
      const question = { type: "turn", match: this.#match, turn: this.#dataOf(turn) } as const;
      this.#openTurns++;
      return await process.ask(question, turn.signal).finally(() => this.#openTurns--);
    } catch (thrown) {
      if (!isWithdrawn(turn.signal)) this.#show(thrown);
      throw new LoggedFault(thrown instanceof BotError ? "the bot threw an error" : (thrown as Error).message);
    }
  }

  async end(result: GameResult): Promise<void> {
    const process = this.#process;
    const { clock, processes } = this.#parts;
    try {
      if (!process?.hasEnded) await process?.ask({ type: "end", match: this.#match, result }, clock.timeout(HOOK_MS));
    } catch (thrown) {
      this.#show(thrown);
    }
    processes.release(this.#match, process);
  }

  close(): void {
    this.#process?.drop(this.#match);
    this.#parts.processes.release(this.#match, this.#process);
  }

  /** Resolves with the process in which the match has begun. Begins it if there is none. Rejects if the process ends or does not load. */
  async #running(): Promise<BotProcess> {
    if (this.#openTurns > 0) await this.#process?.check(); // the turn before this one may block the process
    if (this.#process === null || this.#process.hasEnded) {
      this.#process = this.#parts.processes.assign(this.#match);
      this.#sent = 0;
      this.#begun = this.#begin(this.#process);
    }
    const process = this.#process;
    await this.#begun;
    return process;
  }

  async #begin(process: BotProcess): Promise<void> {
    const info = this.#info;
    const { clock } = this.#parts;
    if (info === null) throw new Error("the match has not begun");
    const cancel = clock.after(LOAD_MS, () => process.kill("the bot's file did not finish loading"));
    await process.loaded.finally(cancel);
    try {
      const cancelCheck = clock.after(HOOK_MS, () => void process.check());
      await process.ask({ type: "start", match: this.#match, info }).finally(cancelCheck);
    } catch (thrown) {
      if (!(thrown instanceof BotError)) throw thrown;
      this.#show(thrown); // an error of `start` does not end the match
    }
  }

  #dataOf(turn: Turn): TurnData {
    const { game, role, view, tick, rejection, clock } = turn;
    const history = turn.history.slice(this.#sent);
    this.#sent = turn.history.length;
    const deadline = clock.deadline.getTime();
    const times = { deadline, remainingMs: clock.remainingMs(), clocks: clock.match };
    return { game, role, view, tick, legal: legalOf(turn), history, rejection, ...times, seed: seedOf(turn) };
  }

  /** Shows a fault once: the end of a process is the fault of each of its open questions. */
  #show(thrown: unknown): void {
    if (thrown === this.#lastShown) return;
    this.#lastShown = thrown;
    const { file, name, log } = this.#parts;
    log(thrown instanceof BotError ? textOf(thrown.thrown, file) : `${name}: ${(thrown as Error).message}`);
  }
}

/** Returns the legal actions of a turn; null if the player does not know the game. */
function legalOf(turn: Turn): readonly unknown[] | null {
  try {
    return turn.legal;
  } catch {
    return null;
  }
}

/** The text `file:line:column: name: message` for a value that the code of a bot threw in its process. */
function textOf(thrown: ThrownError | string, file: string): string {
  if (typeof thrown === "string") return whereThrown(thrown, file);
  const { name, message, stack, denied } = thrown;
  const text = denied === undefined ? message : deniedText(denied);
  return whereThrown(Object.assign(new Error(text), { name, stack }), file);
}

/** The rights of a bot are in docs/security.md. */
function deniedText({ permission, resource }: DeniedAccess): string {
  if (permission === "FileSystemRead") {
    return `a bot may read only code of its folder and of packages that it imports; --allow-read ${resource} allows this file`;
  }
  if (permission === "FileSystemWrite") return `a bot may write no files; --allow-write ${resource} allows this one`;
  if (permission === "Function") return `a bot may not call ${resource}`;
  const isNetwork = permission === "" || permission === "Net";
  return isNetwork
    ? "a bot may not use the network; --allow-net allows it"
    : `a bot may not start processes or threads${resource && ` (${resource})`}`;
}
