import { isIP } from "node:net";
import type { Cancel, Clock } from "../../lib/clock.ts";
import { cutTo, inOneLine } from "../../lib/text.ts";
import { networkOf } from "../../protocol/addresses.ts";

/** A rejected request of a caller, or the fault of an agent that this process has called. */
export interface RejectedRequest {
  /** The HTTP status, or the error code of JSON-RPC, REST, the league or the game. */
  readonly code: string | number;
  readonly reason: string;
  /** The sender that the request names, not verified; null if it names none. */
  readonly agent?: string | null;
  /** The HTTP method and path, the JSON-RPC method, the tool or the message type. */
  readonly request: string;
}

/** Logs the rejected requests of a service. */
export interface RejectionLog {
  /** Logs a rejection. `from` is the address of the caller, or the endpoint of the called agent. Never throws. */
  write(from: string, rejected: RejectedRequest): void;
}

interface RejectionLogLimits {
  /** The largest number of lines per minute with one code and one network. */
  readonly perCodeAndNetwork: number;
  /** The largest number of lines per minute. */
  readonly total: number;
}

const LIMITS: RejectionLogLimits = { perCodeAndNetwork: 5, total: 200 };
const WINDOW_MS = 60_000;
const SHOWN_CHARACTERS = 500;
/** Matches every token, key and signature of this project by its length. Ids are shorter. */
const SECRET = /[A-Za-z0-9_+/=-]{40,}/g;

/**
 * Creates a log that writes one line per rejection. Rejections above the limits are counted in one line per minute, so that callers cannot fill the
 * disk. Text from callers is written on one line, is cut to 500 characters, and everything in it that could be a token is removed.
 */
export function rejectionLog(
  log: { warn(fields: object, message: string): void },
  clock: Clock,
  limits: RejectionLogLimits = LIMITS,
): RejectionLog & { flush(): void } {
  const counts = new Map<string, number>();
  let writtenLines = 0;
  let omitted = 0;
  let cancelTimer: Cancel = () => {};
  const endMinute = (): void => {
    if (omitted > 0) log.warn({ left_out: omitted }, "further rejections of the last minute were not logged");
    counts.clear();
    writtenLines = 0;
    omitted = 0;
  };
  return {
    /** Writes the line that counts the omitted rejections immediately and cancels its timer. Called when a server stops. */
    flush() {
      cancelTimer();
      endMinute();
    },
    write(from, { code, reason, agent = null, request }) {
      if (counts.size === 0) cancelTimer = clock.after(WINDOW_MS, endMinute);
      const key = `${code} ${isIP(from) === 6 ? networkOf(from) : from}`;
      const count = (counts.get(key) ?? 0) + 1;
      if (count > limits.perCodeAndNetwork || writtenLines >= limits.total) {
        omitted++;
        return;
      }
      counts.set(key, count);
      writtenLines++;
      log.warn(
        { code, reason: clean(reason), agent: agent === null ? null : clean(agent), request: clean(request), from },
        "rejected",
      );
    },
  };
}

const clean = (text: string): string => inOneLine(cutTo(SHOWN_CHARACTERS, text.replace(SECRET, "[removed]")));
