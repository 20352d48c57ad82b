import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import { LINES_START_MS } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { BotHome } from "../loaded-bot.ts";
import type { ProgramSettings } from "./bot-files.ts";

/** The time after which a process without input shows that its program starts. It is long, because the machine may be busy. */
const PROBE_MS = 5_000;
/** The time for which the first process may fail later than the probe. */
const FAILURE_MS = 500;

/** The part of a start that is added to its expected time, because several processes start at the same time and the machine may be busy. */
const RESERVE = 0.5;
/** The maximum number of processes that wait for their first match. */
const MAX_SPARES = 8;
/** The maximum number of processes that wait for a further match, unless more matches are open at the same time. */
const MAX_IDLE = 8;
/** The time that a player has for the answer to an invitation with the default settings of a league. */
const DEFAULT_PACE: Pace = { waitMs: 4_000, openMatches: 1 };

/** How quickly matches follow each other: the time for which an invitation can wait, and the number of matches that are open at the same time. */
interface Pace {
  readonly waitMs: number;
  readonly openMatches: number;
}

/** The start of a process, and the time that is left of it. */
interface Start {
  readonly process: ProgramProcess;
  readonly restMs: number;
}

const isOver = ({ process, restMs }: Start): boolean => restMs <= 0 || process.isReady;

/** A program whose processes play matches. */
export interface LineProgram extends Program, ProgramSettings {}

/**
 * Starts and ends the processes of a program. A process of a program that plays many matches plays one after the other. Spare processes wait for matches. They load what they need before the match and during the matches before, so
 * that this time does not count as a move. One spare suffices for a start that is shorter than the wait of an invitation. For a longer start there are so
 * many that the invitations until their matches can together wait for it.
 */
export class ProgramProcesses {
  readonly #program: Program;
  /** The program in messages. */
  readonly #name: string;
  readonly #startMs: number;
  readonly #clock: Clock;
  readonly #home: Pick<BotHome, "warn" | "fail">;
  /** Processes that have received no line yet, oldest first. */
  #spares: ProgramProcess[] = [];
  #pace = DEFAULT_PACE;
  /** Processes that receive no line until the program is known to start. */
  readonly #starting = new Set<ProgramProcess>();
  /** Whether the program is known to start. */
  #isProven = false;
  /** The time after which a process can play, as `load` has found out; null if it has not found out. */
  #loadedAfterMs: number | null = null;
  /** Whether the processes of the program print a ready line. */
  #printsReady = false;
  #probe: Promise<void> | null = null;
  readonly #closed = new AbortController();
  /** The processes that end after their last match. */
  readonly #ending = new Set<Promise<void>>();
  /** The processes that wait for a further match. */
  readonly #idle: IdleProcesses;
  /** Whether a process can play several matches, if the program says that it plays many. */
  #allowsMany: boolean;

  constructor({ command, folder, startMs, matches }: LineProgram, clock: Clock, home: Pick<BotHome, "warn" | "fail">) {
    this.#program = { command, folder };
    this.#name = typeof command === "string" ? command : command.join(" ");
    this.#startMs = startMs ?? LINES_START_MS;
    this.#clock = clock;
    this.#home = home;
    this.#idle = new IdleProcesses(clock);
    this.#allowsMany = matches !== "one";
  }

  /**
   * Starts the first process. Resolves when it can play, and the spares of the next matches will be able to: when it has printed its ready line, or when
   * the probe, a second process whose input is closed, has ended. A program without a ready line shows only in this way that it has loaded what it needs
   * and reads its input. After the start time it resolves with a warning, because a program may ignore the end of its input. Rejects with StartError if
   * the program ends with an error.
   */
  async load(): Promise<void> {
    const first = this.#launch();
    const probe = this.#launch();
    probe.closeInput();
    const over = new AbortController();
    const pause = (ms: number): Promise<unknown> => this.#clock.pause(ms, over.signal);
    const probed = async (): Promise<unknown> => {
      const end = await Promise.race([probe.readyLine, probe.ended]);
      if (!end) return first.readyLine; // of a program that prints one
      if (isFailure(end)) await Promise.race([first.ended, pause(FAILURE_MS)]);
      if (!over.signal.aborted) this.#loadedAfterMs = first.ageMs();
      return null;
    };
    for (const process of [first, probe]) this.#starting.add(process);
    const showsReady = async (): Promise<void> => {
      await first.readyLine;
      if (!over.signal.aborted) this.#loadedAfterMs = first.ageMs();
    };
    await Promise.race([showsReady(), first.ended, probed(), pause(this.#startMs)]);
    over.abort();
    for (const process of [first, probe]) this.#starting.delete(process);
    probe.kill();
    this.#printsReady = first.isReady || probe.isReady;
    if (first.end !== null && isFailure(first.end)) throw first.startError(this.#name, first.end);
    this.#spares.push(first);
    if (first.end === null && this.#loadedAfterMs === null) this.#home.warn(this.#slowStart());
    if (this.#sparesAhead() > 1) this.#fill();
    await this.#passed(this.#startsOf(this.#spares.slice(1)), this.#closed.signal);
  }

  /** Returns a process for a match of a series: one that has played an earlier match, otherwise a fresh one. */
  start(series: string): ProgramProcess {
    return this.#idle.take(series) ?? this.fresh();
  }

  /** Returns a process that has received no line yet. */
  fresh(): ProgramProcess {
    this.#spares = this.#spares.filter((spare) => !spare.hasEnded);
    return this.#spares.shift() ?? this.#launch();
  }

  /**
   * Resolves when the process of a match can play, and the spares of the next matches will be able to, at the latest after the wait of the invitation. A
   * match may be over at once, so the next invitation may come at the same moment. Resolves with the part of the wait that is left.
   */
  async loaded(process: ProgramProcess, pace: Pace): Promise<number> {
    const startedAt = this.#clock.monotonic();
    const leftMs = (): number => Math.max(0, pace.waitMs - (this.#clock.monotonic() - startedAt));
    this.#pace = pace;
    if (this.#sparesAhead() > 1) this.#fill();
    const starts = [{ process, restMs: this.#restMs(process) }, ...this.#startsOf(this.#spares)];
    if (starts.every(isOver)) return leftMs();
    const over = new AbortController();
    const limit = this.#clock.pause(pace.waitMs, over.signal);
    // The promise of the end would keep what waits for it until the process ends, for each match.
    const ended = process.hasPlayed ? [] : [process.ended];
    await Promise.race([this.#passed(starts, over.signal), limit, ...ended]);
    over.abort();
    return leftMs();
  }

  /** Records that a process has answered a turn, so the program starts. Starts the processes of the next matches, unless this one can play them. */
  answered(process: ProgramProcess): void {
    this.#isProven = true;
    this.#printsReady ||= process.isReady;
    if (!this.#playsMany(process)) this.#fill();
  }

  /** Gives each further match a process, because a process has printed a line that does not belong there and could be taken for an answer in the next match. */
  disallowMany(process: ProgramProcess): void {
    if (!this.#playsMany(process)) return;
    this.#allowsMany = false;
    this.#home.warn(
      `${this.#name} has printed a line that is neither its ready line nor the answer to a turn, so each match has a process from now on: print other lines on stderr`,
    );
    for (const idle of this.#idle.takeAll()) this.#end(idle);
  }

  /** Returns why a process may have left its turn without an answer; null if it has shown that it had started. */
  faultOfStart(process: ProgramProcess): string | null {
    if (process.hasPrinted || (this.#loadedAfterMs !== null && !this.#printsReady)) return null;
    return `the program did not show that it had started. If it needs more than ${this.#startMs} ms for its start, raise start_ms`;
  }

  /**
   * Finds out why a process has ended in a turn. Resolves if the program starts, so that the end is a fault in the turn. On a busy machine the error of a
   * program that does not start comes after `load`: if the program also ends with an error without any input, the player fails, and the promise never
   * settles.
   */
  async examineEnd(end: ProcessEnd): Promise<void> {
    if (!isFailure(end) || this.#isProven) return;
    this.#probe ??= this.#examine();
    await this.#probe;
  }

  /** Keeps a process whose match is over for the next match of the series, or ends it if there is no series. */
  end(process: ProgramProcess, series: string | null): void {
    if (process.playsMany) process.endMatch();
    const isKept = series !== null && this.#playsMany(process) && !this.#closed.signal.aborted && !process.hasEnded;
    const limit = Math.max(MAX_IDLE, this.#pace.openMatches);
    const ended = isKept ? this.#idle.keep(process, series, limit) : [process];
    for (const one of ended) this.#end(one);
  }

  #playsMany({ playsMany }: ProgramProcess): boolean {
    return playsMany && this.#allowsMany;
  }

  /** Closes the stdin of a process. It has `END_MS` to end. */
  #end(process: ProgramProcess): void {
    process.closeInput();
    if (process.hasEnded) return;
    const cancel = this.#clock.after(END_MS, () => process.kill());
    const ending = process.exited.then(() => {
      cancel();
      this.#ending.delete(ending);
    });
    this.#ending.add(ending);
  }

  /** Terminates the processes that have played no match. Resolves when the processes whose last match is over have ended. */
  async close(): Promise<void> {
    this.#closed.abort();
    for (const process of this.#idle.takeAll()) this.#end(process);
    for (const process of [...this.#spares, ...this.#starting]) process.kill();
    await Promise.all(this.#ending);
  }

  /** Starts a process without input. Resolves if it does not end with an error within `PROBE_MS`. */
  async #examine(): Promise<void> {
    const process = this.fresh();
    const over = new AbortController();
    this.#starting.add(process);
    await Promise.race([process.ended, this.#clock.pause(PROBE_MS, over.signal)]);
    over.abort();
    this.#starting.delete(process);
    if (process.end !== null && isFailure(process.end)) {
      this.#home.fail(process.startError(this.#name, process.end));
      return new Promise<never>(() => {});
    }
    this.#isProven = true;
    this.#spares.unshift(process);
  }

  /** The time that is left until a process can play. */
  #restMs(process: ProgramProcess): number {
    if (process.hasPlayed) return this.#idle.restMs(this.#pace.waitMs);
    const neededMs = this.#printsReady && !process.hasPrinted ? this.#startMs : this.#expectedMs();
    return neededMs - process.ageMs();
  }

  /** The time that a start takes, with a reserve; 0 if it is not known. */
  #expectedMs(): number {
    return (this.#loadedAfterMs ?? 0) * (1 + RESERVE);
  }

  /** The number of spares that the next matches need. */
  #sparesAhead(): number {
    const { waitMs, openMatches } = this.#pace;
    const forEach = Math.max(1, Math.ceil(this.#expectedMs() / Math.max(1, waitMs)));
    return forEach === 1 ? 1 : Math.min(MAX_SPARES, forEach * openMatches);
  }

  /** Starts the spares that are missing. */
  #fill(): void {
    if (this.#closed.signal.aborted) return;
    while (this.#spares.length < this.#sparesAhead()) this.#spares.push(this.#launch());
  }

  /** The starts of spares, without the time for which the invitations until their matches will wait. */
  #startsOf(spares: readonly ProgramProcess[]): readonly Start[] {
    const { waitMs, openMatches } = this.#pace;
    return spares.map((process, index) => {
      const waits = Math.floor(index / openMatches) + 1;
      return { process, restMs: this.#expectedMs() - process.ageMs() - waits * waitMs };
    });
  }

  /** Resolves when each start is over. */
  async #passed(starts: readonly Start[], signal: AbortSignal): Promise<void> {
    const open = starts.filter((start) => !isOver(start));
    await Promise.all(
      open.map(({ process, restMs }) => {
        const ended = process.hasPlayed ? [] : [process.ended];
        return Promise.race([process.readyLine, this.#clock.pause(restMs, signal), ...ended]);
      }),
    );
  }

  #launch(): ProgramProcess {
    return new ProgramProcess(this.#program, this.#clock);
  }

  #slowStart(): string {
    return `${this.#name} has not shown within ${this.#startMs} ms that it has started, so its first move may include the rest of its start: let it print {"ready": true} when it can play, or raise start_ms`;
  }
}

/** The time that a process has after the last line of its match: to end, or to print its ready line again. */
const END_MS = 2_000;
/** The time after which a program counts as one that prints its ready line only once. */
const ONCE_MS = 1_000;

/** A process that waits for the next match of a league. */
interface IdleProcess {
  readonly process: ProgramProcess;
  readonly series: string;
}

/**
 * The processes of a program that have played a match and can play another one. A process plays matches of one series only, which is a league and its
 * game. If the program prints its ready line again after each match, the next match begins after this line: all output before it belongs to the match
 * before.
 */
class IdleProcesses {
  readonly #clock: Clock;
  /** In the order of the ends of their matches. */
  #idle: IdleProcess[] = [];
  /** Null until the first process has played a match. */
  #printsReadyAgain: boolean | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a process whose match is over. Returns the processes beyond the limit, oldest first, which are no longer kept. */
  keep(process: ProgramProcess, series: string, limit: number): readonly ProgramProcess[] {
    this.#idle.push({ process, series });
    const timers = [this.#clock.after(END_MS, () => this.#printsReadyAgain && process.kill())];
    if (this.#printsReadyAgain === null) timers.push(this.#clock.after(ONCE_MS, () => this.#printedOnce(process)));
    void process.readyLine.then(() => {
      for (const cancel of timers) cancel();
      if (process.isReadyForNext) this.#printsReadyAgain = true;
    });
    return this.#idle.splice(0, Math.max(0, this.#idle.length - limit)).map(({ process: oldest }) => oldest);
  }

  /** Returns a process for the next match of a series; null if none is idle. */
  take(series: string): ProgramProcess | null {
    this.#idle = this.#idle.filter(({ process }) => !process.hasEnded);
    const ofSeries = this.#idle.filter((one) => one.series === series);
    const taken = ofSeries.findLast(({ process }) => process.isReady) ?? ofSeries[0];
    if (!taken) return null;
    this.#idle = this.#idle.filter((one) => one !== taken);
    if (this.#printsReadyAgain === false) taken.process.beginNext();
    return taken.process;
  }

  /** Returns all processes, which are no longer kept. */
  takeAll(): readonly ProgramProcess[] {
    return this.#idle.splice(0).map(({ process }) => process);
  }

  /** The time for which the next match of a process waits for the ready line, at most `waitMs`. */
  restMs(waitMs: number): number {
    if (this.#printsReadyAgain === null) return Math.min(ONCE_MS, waitMs);
    return this.#printsReadyAgain ? waitMs : 0;
  }

  #printedOnce(process: ProgramProcess): void {
    this.#printsReadyAgain ??= false;
    const isIdle = this.#idle.some((one) => one.process === process);
    if (!this.#printsReadyAgain && !isIdle) process.beginNext();
  }
}

/** A program: the words of its command, or a command for the shell, and the folder in which it runs. */
interface Program {
  readonly command: string | readonly string[];
  readonly folder: string;
}

/** Receives the output of a process and its end. Null is a line that is too long. */
interface OutputReader {
  stdout(text: string | null): void;
  stderr(text: string | null): void;
  /** Called when the process has ended and its output is complete. */
  closed(end: ProcessEnd): void;
}

/** How a process has ended; an error if it could not be started. */
export type ProcessEnd = { readonly code: number | null; readonly signal: string | null } | Error;

export const MAX_LINE_BYTES = 1_000_000;
/** The maximum number of lines, and of characters of a line, that are kept until a match takes the process. */
const MAX_KEPT_LINES = 20;
const MAX_KEPT_CHARACTERS = 1_000;

const Ready = z.object({ ready: z.literal(true), matches: z.unknown().optional() });

/** The reader and the lines of a match that begins when the output of the match before is complete. */
interface NextMatch {
  reader: OutputReader | null;
  readonly lines: object[];
}

/** The programs that this process has started. They must not outlive it. */
const running = new Set<ChildProcessWithoutNullStreams>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Whether a program has ended in a way that shows that it cannot start. A signal usually comes from its player. */
const isFailure = (end: ProcessEnd): boolean => end instanceof Error || (end.code !== 0 && end.code !== null);

/** A process of a program. It keeps its first lines until a match reads them. Between two matches, it holds back the lines of the second one. */
export class ProgramProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #clock: Clock;
  readonly #launchedAt: number;
  #readyLine = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<ProcessEnd>();
  readonly #exited = Promise.withResolvers<void>();
  #kept: ["stdout" | "stderr", string | null][] = [];
  #reader: OutputReader | null = null;
  /** Whether a line has come on stdout. Only the first one, and that after a match, can be the ready line. */
  hasPrinted = false;
  /** Whether the process has printed the ready line for its present match, or for its next one. */
  isReady = false;
  /** Whether the ready line says that the process plays many matches, one after the other. */
  playsMany = false;
  /** Whether the process has played a match to its end. */
  hasPlayed = false;
  /** Null unless the output of the last match can be incomplete. */
  #next: NextMatch | null = null;
  /** How the process has ended, after `ended` has resolved. */
  end: ProcessEnd | null = null;

  constructor({ command, folder }: Program, clock: Clock) {
    const [file = "", ...args] = typeof command === "string" ? [command] : command;
    const isShell = typeof command === "string";
    const start = isShell && process.platform !== "win32" ? `exec ${file}` : file;
    const child = spawn(start, args, { cwd: folder, shell: isShell });
    this.#child = child;
    this.#clock = clock;
    this.#launchedAt = clock.monotonic();
    running.add(child);
    child.once("exit", (code, signal) => {
      running.delete(child);
      this.#exited.resolve();
      if (this.hasPlayed) this.#readyLine.resolve();
      if (!isFailure({ code, signal })) this.#finish({ code, signal });
    });
    child.on("error", (error) => {
      running.delete(child);
      this.#finish(error);
    });
    // "close" comes after the last line of stderr, which usually names the cause.
    child.once("close", (code, signal) => {
      this.#exited.resolve();
      this.#finish({ code, signal });
      (this.#next?.reader ?? this.#reader)?.closed({ code, signal });
    });
    child.stdin.on("error", () => {}); // "exit" reports the cause
    for (const name of ["stdout", "stderr"] as const) {
      readLines(child[name], MAX_LINE_BYTES, {
        line: (text) => this.#receive(name, text),
        tooLong: () => this.#receive(name, null),
        end: () => {},
      });
    }
  }

  /** Resolves when the process has printed the ready line. After the first match, it also resolves when the process ends. */
  get readyLine(): Promise<void> {
    return this.#readyLine.promise;
  }

  /** Resolves when the process has ended. After an error its output is complete. */
  get ended(): Promise<ProcessEnd> {
    return this.#ended.promise;
  }

  /** Resolves when the process has ended. Its output may be incomplete. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  get hasEnded(): boolean {
    const { exitCode, signalCode, pid } = this.#child;
    return exitCode !== null || signalCode !== null || pid === undefined;
  }

  /** Returns the time for which the process has run. */
  ageMs(): number {
    return this.#clock.monotonic() - this.#launchedAt;
  }

  /** Passes the output to the reader of a match, from the lines that were kept on. */
  read(reader: OutputReader): void {
    if (this.#next !== null) {
      this.#next.reader = reader;
      return;
    }
    this.#reader = reader;
    for (const [name, text] of this.#kept.splice(0)) reader[name](text);
  }

  write(line: object): void {
    if (this.#next !== null) this.#next.lines.push(line);
    else this.#child.stdin.write(`${JSON.stringify(line)}\n`);
  }

  /** Ends a match of a process that plays many. The next match begins with the ready line, or with `beginNext`. */
  endMatch(): void {
    this.hasPlayed = true;
    // A match whose lines were held back is unknown to the process, so the ready line of the match before still counts.
    if (this.#next === null) {
      this.isReady = false;
      this.#readyLine = Promise.withResolvers();
    }
    this.#next = { reader: null, lines: [] };
  }

  /** Whether the ready line has come before any line of the next match was written. */
  get isReadyForNext(): boolean {
    return this.isReady && this.#next !== null;
  }

  /** Passes the output to the next match from now on, and writes its lines. */
  beginNext(): void {
    const { reader = null, lines = [] } = this.#next ?? {};
    this.#next = null;
    if (reader !== null) this.#reader = reader;
    for (const line of lines) this.write(line);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** The error of a program whose process has failed when it was started, with its lines on stderr. */
  startError(name: string, end: ProcessEnd): StartError {
    if (end instanceof Error) return new StartError(`${name} does not start: ${messageOf(end)}`, EXIT.config);
    const lines = this.#kept.flatMap(([stream, text]) => (stream === "stderr" && text !== null ? [text] : []));
    return new StartError(
      [`${name} ended with code ${end.code} when it was started`, ...lines].join("\n"),
      EXIT.config,
    );
  }

  #finish(end: ProcessEnd): void {
    this.end ??= end;
    this.#ended.resolve(end);
  }

  #receive(name: "stdout" | "stderr", text: string | null): void {
    if (name === "stdout") {
      const mayBeReady = !this.hasPrinted || (this.hasPlayed && !this.isReady);
      this.hasPrinted = true;
      if (mayBeReady && text?.includes('"ready"') && this.#isReadyLine(text)) return;
    }
    if (this.#reader !== null) this.#reader[name](text);
    else if (this.#kept.length < MAX_KEPT_LINES)
      this.#kept.push([name, text && cutTo(MAX_KEPT_CHARACTERS, inOneLine(text))]);
  }

  #isReadyLine(text: string): boolean {
    const line = Ready.safeParse(parsedJson(text));
    if (!line.success) return false;
    this.playsMany ||= line.data.matches === "many";
    this.isReady = true;
    this.#readyLine.resolve();
    // The lines on stderr that the process has written before have arrived at the end of this turn of the event loop.
    if (this.#next !== null) this.#clock.defer(() => this.beginNext());
    return true;
  }
}
