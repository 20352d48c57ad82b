import { mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Logger, pino } from "pino";

export type { Logger };

/** A process that is killed outright loses at most the lines of its last second. */
const FLUSH_MS = 1_000;

/**
 * The log of one agent, JSON lines in a file, written asynchronously; `flushSync` before the process ends.
 * Tokens are never logged: whatever is named `auth_token`, `token` or `seed` is cut out.
 */
export function openLog(file: string | null, name: string): Logger & { flushNow(): void } {
  const redact = ["auth_token", "token", "seed", "match_token", "*.auth_token", "*.token", "*.seed", "*.match_token"];
  if (file === null) return Object.assign(pino({ level: "silent" }), { flushNow: () => {} });
  mkdirSync(dirname(file), { recursive: true });
  // Opened at once: a process that ends before pino has opened it would end with pino's error instead of its own.
  const destination = pino.destination({
    dest: openSync(file, "a"),
    sync: false,
    minLength: 4096,
    periodicFlush: FLUSH_MS,
  });
  const logger = pino({ name, base: { name }, redact: { paths: redact, remove: true } }, destination);
  return Object.assign(logger, { flushNow: () => destination.flushSync() });
}
