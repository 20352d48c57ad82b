import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { cutTo, inOneLine } from "#shared/lib/text.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** The time in which a program that is loaded usually reports a missing file or a syntax error. */
export const START_MS = 500;
/** The maximum number of lines, and of bytes of a line, of the output of a failed program that are shown. */
const MAX_LINES = 20;
const MAX_LINE_BYTES = 1_000;

/**
 * Resolves when a process has run for `limitMs` or has ended without an error. Rejects with StartError (exit code 3), which contains its lines on
 * stderr, if it cannot be started or ends with an error before.
 */
export async function programStart(
  child: ChildProcessWithoutNullStreams,
  name: string,
  clock: Clock,
  limitMs: number,
): Promise<void> {
  const started = Promise.withResolvers<void>();
  const fail = (reason: string): void => started.reject(new StartError(reason, EXIT.config));
  const onError = (error: Error): void => fail(`${name} does not start: ${messageOf(error)}`);
  const onExit = (code: number | null): void => {
    if (code === 0 || code === null) {
      started.resolve();
      return;
    }
    const lines: string[] = [];
    const line = (text: string): void => void lines.push(cutTo(MAX_LINE_BYTES, inOneLine(text)));
    readLines(child.stderr, MAX_LINE_BYTES, { line, tooLong: () => {}, end: () => {} });
    // "close" comes after the last line of stderr.
    child.once("close", () =>
      fail([`${name} ended with code ${code} when it was started`, ...lines.slice(0, MAX_LINES)].join("\n")),
    );
  };
  child.once("error", onError);
  child.once("exit", onExit);
  const cancel = clock.after(limitMs, started.resolve);
  try {
    await started.promise;
  } finally {
    cancel();
    child.off("error", onError);
    child.off("exit", onExit);
  }
}
