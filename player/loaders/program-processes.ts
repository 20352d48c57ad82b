import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Clock } from "#shared/lib/clock.ts";
import type { StartError } from "#shared/runtime/process/exit.ts";
import { programStart, START_MS } from "./program-start.ts";

/** A program: the words of its command, or a command for the shell, and the folder in which it runs. */
export interface Program {
  readonly command: string | readonly string[];
  readonly folder: string;
}

/** The time that a program has to end after the last line of its match. */
const END_MS = 2_000;
/** The time after which a process without input shows that its program starts. It is long, because the machine may be busy. */
const PROBE_MS = 5_000;

type Child = ChildProcessWithoutNullStreams;

const hasEnded = ({ exitCode, signalCode }: Child): boolean => exitCode !== null || signalCode !== null;

/** The programs that this process has started. They must not outlive it. */
const running = new Set<Child>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts and ends the processes of a program. */
export class ProgramProcesses {
  readonly #program: Program;
  readonly #clock: Clock;
  readonly #onFailure: (error: StartError) => void;
  /** A process that has received no line yet. */
  #spare: Child | null = null;
  /** The process of `#started`. It receives no line until the program is known to start. */
  #starting: Child | null = null;
  /** Whether the program is known to start. */
  #isProven = false;
  /** Whether a process of the program has printed a ready line. */
  printsReady = false;
  #probe: Promise<void> | null = null;
  /** The processes whose match is over. */
  readonly #ending = new Set<Promise<void>>();

  /** `onFailure` is called at most once, if the program turns out not to start after `load` has resolved. */
  constructor(program: Program, clock: Clock, onFailure: (error: StartError) => void) {
    this.#program = program;
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /** Starts the first process. Rejects with StartError if the program does not start or soon ends with an error. */
  async load(): Promise<void> {
    await this.#started(START_MS);
  }

  /** Returns a process that has received no line yet. */
  start(): Child {
    const spare = this.#spare;
    this.#spare = null;
    return spare === null || hasEnded(spare) ? launch(this.#program) : spare;
  }

  /** Records that a process has answered a turn, so the program starts. */
  answered(): void {
    this.#isProven = true;
  }

  /**
   * Finds out why a process has ended with `code` in a turn. Resolves if the program starts, so that the end is a fault in the turn. On a busy machine
   * the error of a program that does not start comes after `load`: if the program also ends with an error without any input, `onFailure` is called, and
   * the promise never settles.
   */
  async examineEnd(code: number | null): Promise<void> {
    if (code === 0 || code === null || this.#isProven) return;
    this.#probe ??= this.#started(PROBE_MS).then(
      () => this.answered(),
      (thrown) => {
        this.#onFailure(thrown);
        return new Promise<never>(() => {});
      },
    );
    await this.#probe;
  }

  /** Closes the stdin of a process whose match is over. The process has `END_MS` to end. */
  end(child: Child): void {
    child.stdin.end();
    if (hasEnded(child)) return;
    const cancel = this.#clock.after(END_MS, () => child.kill("SIGKILL"));
    const ending = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
    this.#ending.add(ending);
    void ending.then(() => {
      cancel();
      this.#ending.delete(ending);
    });
  }

  /** Terminates the processes that play no match. Resolves when the processes whose match is over have ended. */
  async close(): Promise<void> {
    for (const child of [this.#spare, this.#starting]) child?.kill("SIGKILL");
    await Promise.all(this.#ending);
  }

  /** Starts a process without input. Rejects with StartError if it ends with an error within `limitMs`. */
  async #started(limitMs: number): Promise<void> {
    const { command } = this.#program;
    const child = launch(this.#program);
    this.#starting = child;
    await programStart(child, typeof command === "string" ? command : command.join(" "), this.#clock, limitMs);
    this.#starting = null;
    this.#spare?.kill("SIGKILL");
    this.#spare = child;
  }
}

function launch({ command, folder }: Program): Child {
  const [file = "", ...args] = typeof command === "string" ? [command] : command;
  const isShell = typeof command === "string";
  const child = spawn(isShell && process.platform !== "win32" ? `exec ${file}` : file, args, {
    cwd: folder,
    shell: isShell,
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.on("error", () => running.delete(child)); // "spawn" or "exit" reports the cause
  child.stdin.on("error", () => {}); // "exit" reports the cause
  return child;
}
