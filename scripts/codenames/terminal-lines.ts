import { createInterface, type Interface } from "node:readline";

/** Reads lines from a terminal or a pipe. */
export interface Lines {
  /** Whether input and output are a terminal. */
  readonly isTerminal: boolean;
  /** Prints `prompt` at a terminal and resolves with the next line; null after Ctrl-D and at the end of a pipe. */
  next(prompt: string): Promise<string | null>;
  /** Discards lines that were typed at a terminal before a prompt. */
  discardTyped(): void;
  close(): void;
}

/** Opens the lines of an input. Calls `onInterrupt` for Ctrl-C, because a readline interface turns it into an event instead of a signal. */
export function readLines(input: NodeJS.ReadStream, output: NodeJS.WriteStream, onInterrupt: () => void): Lines {
  const isTerminal = Boolean(input.isTTY && output.isTTY);
  const waiting: ((line: string | null) => void)[] = [];
  const unreadLines: string[] = [];
  let reader: Interface | null = null;
  let hasEnded = false;

  const open = (): Interface => {
    const lines = isTerminal
      ? createInterface({ input, output, terminal: true, historySize: 0 })
      : createInterface({ input, terminal: false });
    lines.on("line", (line) => {
      const resolve = waiting.shift();
      if (resolve) resolve(line);
      else unreadLines.push(line);
    });
    lines.on("SIGINT", onInterrupt);
    lines.on("close", () => {
      reader = null;
      // At a terminal, the next prompt opens the reader again.
      hasEnded = !isTerminal;
      for (const resolve of waiting.splice(0)) resolve(null);
    });
    return lines;
  };

  return {
    isTerminal,
    next(prompt) {
      const line = unreadLines.shift();
      if (line !== undefined) return Promise.resolve(line);
      if (hasEnded) return Promise.resolve(null);
      reader ??= open();
      if (isTerminal) {
        reader.setPrompt(prompt);
        reader.prompt();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    discardTyped() {
      if (isTerminal) unreadLines.length = 0;
    },
    close() {
      reader?.close();
      input.unref?.();
    },
  };
}
