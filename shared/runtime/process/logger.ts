import { mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Logger, pino } from "pino";
import type { Clock } from "../../lib/clock.ts";

export type { Logger };

/** A process that is killed loses at most the lines of its last second. */
const FLUSH_MS = 1_000;
/** The size of the buffered lines in bytes while the disk accepts no data. Further lines are dropped. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const FINAL_FLUSH_MS = 500;

/**
 * Opens the log of an agent: JSON lines in a file, written asynchronously. Call `flushed` last, before the process
 * ends. A log that cannot be written is reported once on stderr and stops nothing. Fields named `auth_token`, `token`,
 * `match_token` or `seed` are removed, so tokens are never logged. If `file` is null, nothing is logged.
 */
export function openLog(file: string | null, name: string): Logger & { flushed(clock: Clock): Promise<void> } {
  const redact = ["auth_token", "token", "seed", "match_token", "*.auth_token", "*.token", "*.seed", "*.match_token"];
  if (file === null) return Object.assign(pino({ level: "silent" }), { flushed: async () => {} });
  mkdirSync(dirname(file), { recursive: true });
  // Opened immediately: a process that ended before pino had opened the file would end with pino's error instead of its
  // own.
  const destination = pino.destination({
    dest: openSync(file, "a"),
    sync: false,
    minLength: 4096,
    periodicFlush: FLUSH_MS,
    maxLength: MAX_BUFFERED_BYTES,
  });
  let isReported = false;
  destination.on("error", (error: Error) => {
    if (!isReported) process.stderr.write(`${name}: cannot write its log: ${error.message}\n`);
    isReported = true;
  });
  const logger = pino({ name, base: { name }, redact: { paths: redact, remove: true } }, destination);
  // flushSync would retry for ever while the disk is full. pino calls it at the exit of the process unless the
  // destination is destroyed.
  const flushed = async (clock: Clock): Promise<void> => {
    await new Promise<void>((resolve) => {
      clock.after(FINAL_FLUSH_MS, resolve);
      destination.flush(() => resolve());
    });
    destination.destroy();
  };
  return Object.assign(logger, { flushed });
}
