import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** A program: the words of its command, or a command for the shell, and the folder in which it runs. */
export interface Program {
  readonly command: string | readonly string[];
  readonly folder: string;
}

/** Receives the output of a process and its end. Null is a line that is too long. */
export interface OutputReader {
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
export const isFailure = (end: ProcessEnd): boolean => end instanceof Error || (end.code !== 0 && end.code !== null);

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
