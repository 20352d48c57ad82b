import type { Clock } from "#shared/lib/clock.ts";
import { LINES_START_MS } from "#shared/runtime/defaults.ts";
import type { BotHome } from "../loaded-bot.ts";
import { isFailure, type ProcessEnd, type Program, ProgramProcess } from "./program-process.ts";

/** The time that a program has to end after the last line of its match. */
const END_MS = 2_000;
/** The time after which a process without input shows that its program starts. It is long, because the machine may be busy. */
const PROBE_MS = 5_000;
/** The time for which the first process may fail later than the probe. */
const FAILURE_MS = 500;

/** A program whose processes play matches. */
export interface LineProgram extends Program {
  /** The time that a process has to load what it needs. */
  readonly startMs?: number | undefined;
}

/**
 * Starts and ends the processes of a program. At most one process, the spare, waits for a match. It loads what it needs before the match and during the
 * match before, so that this time does not count as a move.
 */
export class ProgramProcesses {
  readonly #program: Program;
  /** The program in messages. */
  readonly #name: string;
  readonly #startMs: number;
  readonly #clock: Clock;
  readonly #home: Pick<BotHome, "warn" | "fail">;
  /** A process that has received no line yet. */
  #spare: ProgramProcess | null = null;
  /** Processes that receive no line until the program is known to start. */
  readonly #starting = new Set<ProgramProcess>();
  /** Whether the program is known to start. */
  #isProven = false;
  /** The time after which a process can play, as `load` has found out; null if it has not found out. */
  #loadedAfterMs: number | null = null;
  /** Whether the processes of the program print a ready line. */
  #printsReady = false;
  #probe: Promise<void> | null = null;
  #isClosed = false;
  /** The processes whose match is over. */
  readonly #ending = new Set<Promise<void>>();

  constructor({ command, folder, startMs }: LineProgram, clock: Clock, home: Pick<BotHome, "warn" | "fail">) {
    this.#program = { command, folder };
    this.#name = typeof command === "string" ? command : command.join(" ");
    this.#startMs = startMs ?? LINES_START_MS;
    this.#clock = clock;
    this.#home = home;
  }

  /**
   * Starts the first process. Resolves when it can play: when it has printed its ready line, or when the probe, a second process whose input is
   * closed, has ended. A program without a ready line shows only in this way that it has loaded what it needs and reads its input. After the start
   * time it resolves with a warning, because a program may ignore the end of its input. Rejects with StartError if the program ends with an error.
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
    await Promise.race([first.readyLine, first.ended, probed(), pause(this.#startMs)]);
    over.abort();
    for (const process of [first, probe]) this.#starting.delete(process);
    probe.kill();
    this.#printsReady = first.isReady || probe.isReady;
    if (first.end !== null && isFailure(first.end)) throw first.startError(this.#name, first.end);
    this.#spare = first;
    if (!first.isReady && first.end === null && this.#loadedAfterMs === null) this.#home.warn(this.#slowStart());
  }

  /** Returns a process that has received no line yet. */
  start(): ProgramProcess {
    const spare = this.#spare;
    this.#spare = null;
    return spare === null || spare.hasEnded ? this.#launch() : spare;
  }

  /** Resolves when a process can play, at the latest after its start time or after `waitMs`. */
  async loaded(process: ProgramProcess, waitMs: number): Promise<void> {
    const neededMs = this.#printsReady && !process.hasPrinted ? this.#startMs : (this.#loadedAfterMs ?? 0);
    const ms = Math.min(neededMs - process.ageMs(), waitMs);
    if (ms <= 0) return;
    const over = new AbortController();
    await Promise.race([process.readyLine, process.ended, this.#clock.pause(ms, over.signal)]);
    over.abort();
  }

  /** Records that a process has answered a turn, so the program starts. Starts the process of the next match. */
  answered(process: ProgramProcess): void {
    this.#isProven = true;
    this.#printsReady ||= process.isReady;
    if (!this.#isClosed) this.#spare ??= this.#launch();
  }

  /** Returns why a process may have left its turn without an answer; null if it has shown that it had started. */
  faultOfStart(process: ProgramProcess): string | null {
    if (process.hasPrinted || this.#loadedAfterMs !== null) return null;
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

  /** Closes the stdin of a process whose match is over. The process has `END_MS` to end. */
  end(process: ProgramProcess): void {
    process.closeInput();
    if (process.hasEnded) return;
    const cancel = this.#clock.after(END_MS, () => process.kill());
    const ending = process.exited.then(() => {
      cancel();
      this.#ending.delete(ending);
    });
    this.#ending.add(ending);
  }

  /** Terminates the processes that play no match. Resolves when the processes whose match is over have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const process of [this.#spare, ...this.#starting]) process?.kill();
    await Promise.all(this.#ending);
  }

  /** Starts a process without input. Resolves if it does not end with an error within `PROBE_MS`. */
  async #examine(): Promise<void> {
    const process = this.start();
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
    if (this.#spare === null) this.#spare = process;
    else process.kill();
  }

  #launch(): ProgramProcess {
    return new ProgramProcess(this.#program, this.#clock);
  }

  #slowStart(): string {
    return `${this.#name} has not shown within ${this.#startMs} ms that it has started, so its first move may include the rest of its start: let it print {"ready": true} when it can play, or raise start_ms`;
  }
}
