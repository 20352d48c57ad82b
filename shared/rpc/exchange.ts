import type { Dispatcher, Pool } from "undici";
import { err, messageOf, ok, type Result } from "../lib/result.ts";
import type { FaultCause } from "../session/entry.ts";

/** Why a call to another agent gave no usable answer. */
export interface CallFault {
  readonly cause: Exclude<FaultCause, "illegal_move" | "declined">;
  readonly detail: string;
  /** What came back, cut to 20,000 characters. */
  readonly raw?: string;
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
}

/** Where a call goes: parsed once for each endpoint, because the same few are called again and again. */
export interface Target {
  readonly pool: Pool;
  readonly path: string;
}

/** A reply as read off the wire. */
export interface RawReply {
  readonly status: number;
  readonly text: string;
}

/** Of a faulty answer so much is passed on; whoever publishes it cleans and cuts it further. */
export const RAW_LIMIT = 20_000;
/** What this machine has run out of is no fault of the agent that was called: such a call rejects. */
const OUR_OWN_LACK: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EADDRNOTAVAIL", "ENOBUFS"]);
const DEFAULT_REPLY_BYTES = 256 * 1024;

/** Sends a request once; a fault is a value, and only what this machine itself lacks rejects. */
export const exchange = (
  target: Target,
  method: "POST" | "GET",
  body: string | null,
  options: CallOptions,
): Promise<Result<RawReply, CallFault>> =>
  new Promise((resolve, reject) => {
    if (options.signal?.aborted) return resolve(err({ cause: "timeout", detail: "given up" }));
    const exchange = new Exchange(options, resolve, reject);
    const bearer = options.bearer === undefined ? null : { authorization: `Bearer ${options.bearer}` };
    const headers = body === null ? bearer : bearer ? { ...JSON_CONTENT, ...bearer } : JSON_CONTENT;
    target.pool.dispatch({ path: target.path, method, body, headers }, exchange);
  });

const JSON_CONTENT = { "content-type": "application/json" };

/** One request and its reply, as undici tells of it; settles once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: CallOptions;
  readonly #resolve: (result: Result<RawReply, CallFault>) => void;
  readonly #reject: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #controller: Dispatcher.DispatchController | null = null;
  #isSettled = false;

  constructor(
    options: CallOptions,
    resolve: (result: Result<RawReply, CallFault>) => void,
    reject: (error: Error) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(Exchange.#afterSockets, options.timeoutMs, this);
    if (options.signal) underSignal(options.signal).add(this);
  }

  /** An answer that lies in our own socket when a busy process gets to its timer has come in time. */
  static #afterSockets(exchange: Exchange): void {
    setImmediate(() => exchange.#settle(late(exchange.#options.timeoutMs)));
  }

  giveUp(): void {
    this.#settle(err({ cause: "timeout", detail: "given up" }));
  }

  #settle(result: Result<RawReply, CallFault>): void {
    if (this.#isSettled) return;
    this.#end();
    this.#resolve(result);
    if (!result.ok) this.#controller?.abort(new Error(result.error.detail));
  }

  #end(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    if (this.#options.signal) underSignal(this.#options.signal).delete(this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("given up"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    this.#status = statusCode;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxReplyBytes = DEFAULT_REPLY_BYTES } = this.#options;
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#size <= maxReplyBytes) return;
    const raw = Buffer.concat(this.#chunks).toString("utf8", 0, RAW_LIMIT);
    this.#settle(err({ cause: "too_large", detail: `an answer of more than ${maxReplyBytes} bytes`, raw }));
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    this.#settle(ok({ status: this.#status, text: body.toString("utf8") }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return;
    if (OUR_OWN_LACK.has((error as NodeJS.ErrnoException).code ?? "")) {
      this.#end();
      this.#reject(error);
    } else this.#settle(err({ cause: "refused", detail: `connection failed: ${messageOf(error)}` }));
  }
}

const late = (timeoutMs: number) =>
  err({ cause: "timeout", detail: `no answer within ${Math.round(timeoutMs)} ms` } as const);

/** The exchanges that a signal would give up; one listener for all of them, because a match asks hundreds of times under one signal. */
const watched = new WeakMap<AbortSignal, Set<Exchange>>();

function underSignal(signal: AbortSignal): Set<Exchange> {
  const known = watched.get(signal);
  if (known) return known;
  const exchanges = new Set<Exchange>();
  watched.set(signal, exchanges);
  signal.addEventListener("abort", () => {
    for (const exchange of exchanges) exchange.giveUp();
  });
  return exchanges;
}
