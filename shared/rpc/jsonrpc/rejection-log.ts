import { isIP } from "node:net";
import type { Cancel, Clock } from "../../lib/clock.ts";
import { cutTo, inOneLine } from "../../lib/text.ts";
import { networkOf } from "../../protocol/addresses.ts";

/** A request that was rejected, or a fault of an agent that was asked. */
export interface RejectedRequest {
  /** HTTP status, JSON-RPC code, REST code, or that of league or game. */
  readonly code: string | number;
  readonly reason: string;
  /** The agent as it names itself; null for a caller that does not say. */
  readonly agent?: string | null;
  /** Method and path, JSON-RPC method, tool or message type. */
  readonly request: string;
}

/** Logs the requests that a service rejected, and why. Never throws. */
export interface RejectionLog {
  /** `from` is the address of the caller, or the endpoint of an agent that was asked. */
  write(from: string, rejected: RejectedRequest): void;
}

interface RejectionLogLimits {
  /** Lines a minute about one code from one network. */
  readonly perKind: number;
  /** Lines a minute altogether. */
  readonly total: number;
}

const LIMITS: RejectionLogLimits = { perKind: 5, total: 200 };
const WINDOW_MS = 60_000;
const SHOWN_CHARACTERS = 500;
/** As long as any token, key or signature of ours, and longer than an id. */
const SECRET = /[A-Za-z0-9_+/=-]{40,}/g;

/**
 * Writes a line for each rejection, and instead of those beyond the limits one line that counts them, so that callers cannot fill the disk.
 * Text from callers is put on one line and cut, and everything in it that could be a token is removed.
 */
export function rejectionLog(
  log: { warn(fields: object, message: string): void },
  clock: Clock,
  limits: RejectionLogLimits = LIMITS,
): RejectionLog & { flush(): void } {
  const counts = new Map<string, number>();
  let logged = 0;
  let leftOut = 0;
  let cancelTimer: Cancel = () => {};
  const endMinute = (): void => {
    if (leftOut > 0) log.warn({ left_out: leftOut }, "more rejections in the last minute, which are not logged");
    counts.clear();
    logged = 0;
    leftOut = 0;
  };
  return {
    /** Writes the line that counts what was left out, and cancels the timer that would write it; for the end of a server. */
    flush() {
      cancelTimer();
      endMinute();
    },
    write(from, { code, reason, agent = null, request }) {
      if (counts.size === 0) cancelTimer = clock.after(WINDOW_MS, endMinute);
      const kind = `${code} ${isIP(from) === 6 ? networkOf(from) : from}`;
      const count = (counts.get(kind) ?? 0) + 1;
      if (count > limits.perKind || logged >= limits.total) {
        leftOut++;
        return;
      }
      counts.set(kind, count);
      logged++;
      log.warn(
        { code, reason: clean(reason), agent: agent === null ? null : clean(agent), request: clean(request), from },
        "rejected",
      );
    },
  };
}

const clean = (text: string): string => inOneLine(cutTo(SHOWN_CHARACTERS, text.replace(SECRET, "[removed]")));
