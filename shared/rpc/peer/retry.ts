import type { Clock } from "../../lib/clock.ts";
import { err, type Result } from "../../lib/result.ts";
import { type CallFault, type CallOptions, parsed, RAW_LIMIT, type RawReply } from "./call.ts";

/** Sends a call once. Rejects only if this machine has a shortage of files, memory or ports. */
type SendOnce = (options: CallOptions) => Promise<Result<RawReply, CallFault>>;

/** The pauses before a refused call is repeated: the first one, doubled up to the longest one. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** The pause before a call is repeated after a shortage on this machine. */
const SHORTAGE_PAUSE_MS = 100;

/** The end of one attempt. */
type Attempt = { readonly result: Result<RawReply, CallFault> } | { readonly thrown: unknown };

/**
 * Sends a call and repeats it until its time limit, in two cases:
 * - Always after a shortage on this machine, because it is not a fault of the called agent. Rejects if it lasts until the time limit.
 * - With `options.retry` after a refused or lost connection, which a proxy reports with the status 502, 503 or 504. The called agent recognizes a
 *   repeated message by its message id.
 * Each attempt has the remaining time. `closed` ends the repetitions.
 */
export async function sendWithRetries(
  once: SendOnce,
  options: CallOptions,
  clock: Clock,
  closed: AbortSignal,
): Promise<Result<RawReply, CallFault>> {
  const deadline = clock.monotonic() + options.timeoutMs;
  let attempt = await attemptOf(once, options);
  for (let pauseMs = FIRST_PAUSE_MS; ; ) {
    const isShortage = "thrown" in attempt;
    if (!("thrown" in attempt) && !(options.retry && isRefused(attempt.result))) break;
    const nextPauseMs = isShortage ? SHORTAGE_PAUSE_MS : pauseMs;
    if (closed.aborted || deadline - clock.monotonic() <= nextPauseMs) break;
    const signal = options.signal ? AbortSignal.any([closed, options.signal]) : closed;
    if (!(await clock.pause(nextPauseMs, signal))) break;
    if (!isShortage) pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    attempt = await attemptOf(once, { ...options, timeoutMs: Math.max(1, deadline - clock.monotonic()) });
  }
  if ("thrown" in attempt) throw attempt.thrown;
  return attempt.result;
}

const attemptOf = (once: SendOnce, options: CallOptions): Promise<Attempt> =>
  once(options).then(
    (result) => ({ result: options.retry ? withoutProxy(result) : result }),
    (thrown: unknown) => ({ thrown }),
  );

const isRefused = (result: Result<RawReply, CallFault>): boolean => !result.ok && result.error.cause === "refused";

/** Bad Gateway, Service Unavailable and Gateway Timeout: the answers of a proxy that cannot reach the server behind it. */
const PROXY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** Returns the answer of a proxy that cannot reach the agent as a refused connection. An answer in JSON-RPC comes from the agent and is returned unchanged. */
function withoutProxy(result: Result<RawReply, CallFault>): Result<RawReply, CallFault> {
  if (!result.ok || !PROXY_STATUSES.has(result.value.status)) return result;
  const { status, text, json = parsed(text) } = result.value;
  const value = json?.value;
  if (typeof value === "object" && value !== null && "jsonrpc" in value) return result;
  const detail = `HTTP ${status} without a JSON-RPC response, as from a proxy that cannot reach the agent`;
  return err({ cause: "refused", detail, raw: text.slice(0, RAW_LIMIT), status });
}
