import { mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Logger, pino } from "pino";
import type { Clock } from "../../lib/clock.ts";

export type { Logger };

/** A process that is killed outright loses at most the lines of its last second. */
const FLUSH_MS = 1_000;
/** What waits for a disk that takes nothing, in bytes; more is dropped. */
const MAX_WAITING = 4 * 1024 * 1024;
const LAST_LINES_MS = 500;

/**
 * The log of one agent, JSON lines in a file, written asynchronously; `flushed` is the last thing before the process ends. A log that cannot be written is told
 * once on stderr and stops nothing. Tokens are never logged: whatever is named `auth_token`, `token` or `seed` is cut out.
 */
export function openLog(file: string | null, name: string): Logger & { flushed(clock: Clock): Promise<void> } {
  const redact = ["auth_token", "token", "seed", "match_token", "*.auth_token", "*.token", "*.seed", "*.match_token"];
  if (file === null) return Object.assign(pino({ level: "silent" }), { flushed: async () => {} });
  mkdirSync(dirname(file), { recursive: true });
  // Opened at once: a process that ends before pino has opened it would end with pino's error instead of its own.
  const destination = pino.destination({
    dest: openSync(file, "a"),
    sync: false,
    minLength: 4096,
    periodicFlush: FLUSH_MS,
    maxLength: MAX_WAITING,
  });
  let isTold = false;
  destination.on("error", (error: Error) => {
    if (!isTold) process.stderr.write(`${name}: cannot write its log: ${error.message}\n`);
    isTold = true;
  });
  const logger = pino({ name, base: { name }, redact: { paths: redact, remove: true } }, destination);
  // Not flushSync, which tries for ever while the disk is full, and which pino would call at the exit of a log that is not destroyed.
  const flushed = async (clock: Clock): Promise<void> => {
    await new Promise<void>((resolve) => {
      clock.after(LAST_LINES_MS, resolve);
      destination.flush(() => resolve());
    });
    destination.destroy();
  };
  return Object.assign(logger, { flushed });
}
