import type { Cancel, Clock } from "../../lib/clock.ts";
import { err, type Result } from "../../lib/result.ts";
import type { FaultCause } from "../../session/entry.ts";

/** The reason why a call to another agent returned no usable answer. */
export interface CallFault {
  readonly cause: Exclude<FaultCause, "illegal_move" | "declined">;
  /** A text for people. It contains no address, host or path of this machine, because a referee publishes it. */
  readonly detail: string;
  /** The error message of the operating system, for the operator of this process. It may name addresses, hosts and paths, so it is never published. */
  readonly systemMessage?: string;
  /** The fields of the request that the called agent rejected, each with its message; absent if it names none. */
  readonly rejectedFields?: string;
  /** The received text, cut to 20,000 characters. It is untrusted: remove control characters before publishing it. */
  readonly raw?: string;
  /** Set if every address refused the connection, so that no program listens there. A reset, a timeout or an unreachable host does not prove that. */
  readonly isNothingListening?: true;
  /** The HTTP status of an answer that is not 2xx; absent for any other fault. */
  readonly status?: number;
}

/** The options of one call. */
export interface CallOptions {
  /** The time limit of the call, including its retries. */
  readonly timeoutMs: number;
  /** Whether to repeat the call after a refused or broken connection until the time limit. Only for requests that may arrive twice. */
  readonly retry?: boolean;
  /** The token that is sent as `Authorization: Bearer`. */
  readonly bearer?: string;
  /** The largest accepted answer, in bytes; 256 KiB by default. */
  readonly maxReplyBytes?: number;
  /** Cancels the call: it settles with the fault `timeout`. */
  readonly signal?: AbortSignal;
  /** Whether the call may share a POST with other calls to the same endpoint. Only for agents that accept JSON-RPC batches. */
  readonly batch?: boolean;
}

/** A received HTTP response, not yet validated. */
export interface RawReply {
  readonly status: number;
  readonly text: string;
  /** The value of `text` as JSON; null if it is not JSON; absent if it has not been parsed yet. */
  readonly json?: { readonly value: unknown } | null;
}

/** Parses a text as JSON. Returns null if it is not JSON. */
export function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** The longest part of a faulty answer that `CallFault.raw` contains, in characters. */
export const RAW_LIMIT = 20_000;
const DEFAULT_REPLY_BYTES = 256 * 1024;

/** A call under way. It settles once: with its answer or a fault, at its time limit or when its signal is aborted. Then it calls `onSettled`. */
export class Pending {
  readonly bearer: string | undefined;
  readonly maxReplyBytes: number;
  /** Called once, after the call has settled; `isAnswered` is false for faults. */
  onSettled: ((isAnswered: boolean) => void) | null = null;
  isSettled = false;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (result: Result<RawReply, CallFault>) => void;
  readonly #reject: (error: Error) => void;
  readonly #cancelTimer: Cancel;

  constructor(
    options: CallOptions,
    clock: Clock,
    resolve: (result: Result<RawReply, CallFault>) => void,
    reject: (error: Error) => void,
  ) {
    this.bearer = options.bearer;
    this.maxReplyBytes = options.maxReplyBytes ?? DEFAULT_REPLY_BYTES;
    this.#timeoutMs = options.timeoutMs;
    this.#signal = options.signal;
    this.#resolve = resolve;
    this.#reject = reject;
    // If the timer of a busy process fires late, an answer that is already in the socket buffer has arrived in time and is read first.
    this.#cancelTimer = clock.after(options.timeoutMs, () => clock.defer(this.#settleLate));
    if (options.signal) callsUnder(options.signal).add(this);
  }

  readonly #settleLate = (): void => this.settle(timedOut(this.#timeoutMs));

  cancel(): void {
    this.settle(CANCELLED);
  }

  /** Resolves the call, unless it has settled. */
  settle(result: Result<RawReply, CallFault>): void {
    if (this.isSettled) return;
    this.#end();
    this.#resolve(result);
    this.onSettled?.(result.ok);
  }

  /** Rejects the call because this machine has a shortage of files, memory or ports, which is not a fault of the called agent. */
  reject(error: Error): void {
    if (this.isSettled) return;
    this.#end();
    this.#reject(error);
    this.onSettled?.(false);
  }

  #end(): void {
    this.isSettled = true;
    this.#cancelTimer();
    if (this.#signal) callsUnder(this.#signal).delete(this);
  }
}

/** The result of a call whose signal was aborted. */
export const CANCELLED = err({ cause: "timeout", detail: "the call was cancelled" } as const);

const timedOut = (timeoutMs: number) =>
  err({ cause: "timeout", detail: `no answer within ${Math.round(timeoutMs)} ms` } as const);

/** The calls that each signal cancels. All calls under a signal share one listener, because a match makes hundreds of calls under one signal. */
const callsBySignal = new WeakMap<AbortSignal, Set<Pending>>();

function callsUnder(signal: AbortSignal): Set<Pending> {
  const known = callsBySignal.get(signal);
  if (known) return known;
  const calls = new Set<Pending>();
  callsBySignal.set(signal, calls);
  signal.addEventListener("abort", () => {
    for (const call of calls) call.cancel();
  });
  return calls;
}
