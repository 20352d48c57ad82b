import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Logger, pino } from "pino";

export type { Logger };

/**
 * The log of one agent, JSON lines in a file, written asynchronously; `flushSync` before the process ends.
 * Tokens are never logged: whatever is named `auth_token`, `token` or `seed` is cut out.
 */
export function openLog(file: string | null, name: string): Logger & { flushNow(): void } {
  const redact = ["auth_token", "token", "seed", "match_token", "*.auth_token", "*.token", "*.seed", "*.match_token"];
  if (file === null) return Object.assign(pino({ level: "silent" }), { flushNow: () => {} });
  mkdirSync(dirname(file), { recursive: true });
  const destination = pino.destination({ dest: file, sync: false, minLength: 4096 });
  const logger = pino({ name, base: { name }, redact: { paths: redact, remove: true } }, destination);
  const flushNow = (): void => {
    try {
      destination.flushSync();
    } catch {
      // The file was not yet open: there is nothing to lose.
    }
  };
  return Object.assign(logger, { flushNow });
}
