import type { Clock } from "#shared/lib/clock.ts";
import type { ProgramProcess } from "./program-process.ts";

/** The time that a process has after the last line of its match: to end, or to print its ready line again. */
export const END_MS = 2_000;
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
export class IdleProcesses {
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
