import { createInterface, type Interface } from "node:readline";

/** Lines that a person types, or that a pipe brings. */
export interface Lines {
  /** Whether a person sits there. */
  readonly isTerminal: boolean;
  /** The next line, asked for with `prompt`; null when there is none: Ctrl-D, or the end of a pipe. */
  next(prompt: string): Promise<string | null>;
  /** Forgets what was typed before anybody asked. */
  forget(): void;
  close(): void;
}

/** `onInterrupt` is called for Ctrl-C, which a terminal that is read line by line does not make a signal of. */
export function readLines(input: NodeJS.ReadStream, output: NodeJS.WriteStream, onInterrupt: () => void): Lines {
  const isTerminal = Boolean(input.isTTY && output.isTTY);
  const waiting: ((line: string | null) => void)[] = [];
  const typed: string[] = [];
  let reading: Interface | null = null;
  let hasEnded = false;

  const open = (): Interface => {
    const lines = isTerminal
      ? createInterface({ input, output, terminal: true, historySize: 0 })
      : createInterface({ input, terminal: false });
    lines.on("line", (line) => {
      const first = waiting.shift();
      if (first) first(line);
      else typed.push(line);
    });
    lines.on("SIGINT", onInterrupt);
    lines.on("close", () => {
      reading = null;
      // At a terminal the next question opens it again.
      hasEnded = !isTerminal;
      for (const one of waiting.splice(0)) one(null);
    });
    return lines;
  };

  return {
    isTerminal,
    next(prompt) {
      const line = typed.shift();
      if (line !== undefined) return Promise.resolve(line);
      if (hasEnded) return Promise.resolve(null);
      reading ??= open();
      if (isTerminal) {
        reading.setPrompt(prompt);
        reading.prompt();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    forget() {
      if (isTerminal) typed.length = 0;
    },
    close() {
      reading?.close();
      input.unref?.();
    },
  };
}
