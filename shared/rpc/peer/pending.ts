import type { Cancel, Clock } from "../../lib/clock.ts";
import { err, type Result } from "../../lib/result.ts";
import type { FaultCause } from "../../session/entry.ts";

/** Why a call to another agent gave no usable answer. */
export interface CallFault {
  readonly cause: Exclude<FaultCause, "illegal_move" | "declined">;
  /** For people. Holds no address, host or path of ours, because a referee publishes it. */
  readonly detail: string;
  /** The system's message, which may name addresses, hosts and paths: for the operator of this process, never published. */
  readonly systemMessage?: string;
  /** The fields of the request that the other side rejected, each with its message; absent when it names none. */
  readonly refusedFields?: string;
  /** What came back, cut to 20,000 characters. */
  readonly raw?: string;
  /** Every address refused the connection: no program listens there. A reset, a timeout or an unreachable host does not prove that. */
  readonly isNothingListening?: true;
  /** The HTTP status of an answer that is not 2xx; absent when there was no such answer. */
  readonly status?: number;
}

export interface CallOptions {
  /** The whole call, retries included. */
  readonly timeoutMs: number;
  /** Try again after a refused or broken connection until the time is up. Only for requests that may arrive twice. */
  readonly retry?: boolean;
  /** Sent as `Authorization: Bearer`. */
  readonly bearer?: string;
  readonly maxReplyBytes?: number;
  readonly signal?: AbortSignal;
  /** May go in one POST with others to the same endpoint: for agents that take JSON-RPC batches. */
  readonly batch?: boolean;
}

/** A reply as read off the wire. */
export interface RawReply {
  readonly status: number;
  readonly text: string;
  /** `text` as JSON, null when it is none; absent when nobody has looked yet. */
  readonly json?: { readonly value: unknown } | null;
}

/** A text as JSON; null when it is none. */
export function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** Of a faulty answer so much is passed on; whoever publishes it cleans and cuts it further. */
export const RAW_LIMIT = 20_000;
const DEFAULT_REPLY_BYTES = 256 * 1024;

/** One call on its way; settles once, by its answer, a fault, its deadline or its signal, and then tells `onSettled`. */
export class Pending {
  readonly bearer: string | undefined;
  readonly maxReplyBytes: number;
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
    // An answer that is in this process's socket buffer when its timer fires late has arrived in time.
    this.#cancelTimer = clock.after(options.timeoutMs, () => clock.defer(this.#late));
    if (options.signal) underSignal(options.signal).add(this);
  }

  readonly #late = (): void => this.settle(late(this.#timeoutMs));

  giveUp(): void {
    this.settle(GIVEN_UP);
  }

  settle(result: Result<RawReply, CallFault>): void {
    if (this.isSettled) return;
    this.#end();
    this.#resolve(result);
    this.onSettled?.(result.ok);
  }

  /** For what this machine itself lacks, which is no fault of the agent that was called. */
  reject(error: Error): void {
    if (this.isSettled) return;
    this.#end();
    this.#reject(error);
    this.onSettled?.(false);
  }

  #end(): void {
    this.isSettled = true;
    this.#cancelTimer();
    if (this.#signal) underSignal(this.#signal).delete(this);
  }
}

export const GIVEN_UP = err({ cause: "timeout", detail: "given up" } as const);

const late = (timeoutMs: number) =>
  err({ cause: "timeout", detail: `no answer within ${Math.round(timeoutMs)} ms` } as const);

/** The calls that a signal would give up; one listener for all of them, because a match asks hundreds of times under one signal. */
const watched = new WeakMap<AbortSignal, Set<Pending>>();

function underSignal(signal: AbortSignal): Set<Pending> {
  const known = watched.get(signal);
  if (known) return known;
  const calls = new Set<Pending>();
  watched.set(signal, calls);
  signal.addEventListener("abort", () => {
    for (const call of calls) call.giveUp();
  });
  return calls;
}
