import { isIP } from "node:net";
import type { Cancel, Clock } from "../../lib/clock.ts";
import { cutTo, inOneLine } from "../../lib/text.ts";
import { networkOf } from "../../protocol/addresses.ts";

/** A rejected request, or a fault of an agent that this process called. */
export interface RejectedRequest {
  /** The HTTP status, or the code of JSON-RPC, REST, the league protocol or the game. */
  readonly code: string | number;
  readonly reason: string;
  /** The agent as it names itself; null for a caller without a name. */
  readonly agent?: string | null;
  /** The HTTP method and path, the JSON-RPC method, the tool or the message type. */
  readonly request: string;
}

/** Logs the rejected requests of a service with their reasons. Never throws. */
export interface RejectionLog {
  /** `from` is the address of the caller, or the endpoint of the agent that was called. */
  write(from: string, rejected: RejectedRequest): void;
}

interface RejectionLogLimits {
  /** Lines a minute for one code and one network. */
  readonly perKind: number;
  /** Lines a minute for all codes and networks. */
  readonly total: number;
}

const LIMITS: RejectionLogLimits = { perKind: 5, total: 200 };
const WINDOW_MS = 60_000;
const SHOWN_CHARACTERS = 500;
/** Matches every token, key and signature of this program, which are longer than ids. */
const SECRET = /[A-Za-z0-9_+/=-]{40,}/g;

/**
 * Returns a log with one line for each rejection. Rejections beyond the limits are counted in one line a minute, so callers cannot fill the
 * disk. Text of callers is written on one line and cut, and everything in it that could be a token is removed.
 */
export function rejectionLog(
  log: { warn(fields: object, message: string): void },
  clock: Clock,
  limits: RejectionLogLimits = LIMITS,
): RejectionLog & { flush(): void } {
  const counts = new Map<string, number>();
  let loggedCount = 0;
  let omittedCount = 0;
  let cancelTimer: Cancel = () => {};
  const endMinute = (): void => {
    if (omittedCount > 0)
      log.warn({ left_out: omittedCount }, "more rejections in the last minute, which are not logged");
    counts.clear();
    loggedCount = 0;
    omittedCount = 0;
  };
  return {
    /** Writes the line with the count immediately and cancels its timer; for the end of a server. */
    flush() {
      cancelTimer();
      endMinute();
    },
    write(from, { code, reason, agent = null, request }) {
      if (counts.size === 0) cancelTimer = clock.after(WINDOW_MS, endMinute);
      const kind = `${code} ${isIP(from) === 6 ? networkOf(from) : from}`;
      const count = (counts.get(kind) ?? 0) + 1;
      if (count > limits.perKind || loggedCount >= limits.total) {
        omittedCount++;
        return;
      }
      counts.set(kind, count);
      loggedCount++;
      log.warn(
        { code, reason: clean(reason), agent: agent === null ? null : clean(agent), request: clean(request), from },
        "rejected",
      );
    },
  };
}

const clean = (text: string): string => inOneLine(cutTo(SHOWN_CHARACTERS, text.replace(SECRET, "[removed]")));
