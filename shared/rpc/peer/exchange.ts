import type { Dispatcher } from "undici";
import type { Clock } from "../../lib/clock.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { codeOf, connectionFault } from "./connection-fault.ts";
import { type CallFault, type CallOptions, GIVEN_UP, Pending, RAW_LIMIT, type RawReply } from "./pending.ts";

/** Where a call goes: parsed once for each endpoint, because the same few are called again and again. */
export interface Target {
  readonly pool: Pick<Dispatcher, "dispatch">;
  readonly path: string;
}

/** What this machine has run out of is no fault of the agent that was called: such a call rejects. */
const OUR_OWN_LACK: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EADDRNOTAVAIL", "ENOBUFS"]);

/** Sends a request once; a fault is a value, and only what this machine itself lacks rejects. */
export const exchange = (
  target: Target,
  method: "POST" | "GET",
  body: string | null,
  options: CallOptions,
  clock: Clock,
): Promise<Result<RawReply, CallFault>> =>
  new Promise((resolve, reject) => {
    if (options.signal?.aborted) resolve(GIVEN_UP);
    else send(target, method, body, new Pending(options, clock, resolve, reject));
  });

/** Sends the one request of a call. */
export function send({ pool, path }: Target, method: "POST" | "GET", body: string | null, call: Pending): void {
  const headers = body === null ? bearerOf(call) : jsonHeaders(call);
  pool.dispatch({ path, method, body, headers }, new Exchange(call));
}

const JSON_CONTENT = { "content-type": "application/json" };

const bearerOf = ({ bearer }: Pending) => (bearer === undefined ? null : { authorization: `Bearer ${bearer}` });

/** The headers of a body in JSON, with the call's bearer. */
export const jsonHeaders = (call: Pending): Record<string, string> =>
  call.bearer === undefined ? JSON_CONTENT : { ...JSON_CONTENT, ...bearerOf(call) };

/** What becomes of a call whose connection failed. */
export function failed(call: Pending, error: Error): void {
  if (OUR_OWN_LACK.has(codeOf(error))) {
    call.reject(error);
    return;
  }
  call.settle(err(connectionFault(error)));
}

/** One request and its reply, as undici tells of it. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: Pending;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #controller: Dispatcher.DispatchController | null = null;

  constructor(call: Pending) {
    this.#call = call;
    call.onSettled = (isAnswered) => {
      if (!isAnswered) this.#controller?.abort(new Error("given up"));
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#call.isSettled) controller.abort(new Error("given up"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    this.#status = statusCode;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxReplyBytes } = this.#call;
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#size <= maxReplyBytes) return;
    const raw = Buffer.concat(this.#chunks).toString("utf8", 0, RAW_LIMIT);
    this.#call.settle(err({ cause: "too_large", detail: `an answer of more than ${maxReplyBytes} bytes`, raw }));
  }

  onResponseEnd(): void {
    this.#call.settle(ok({ status: this.#status, text: joined(this.#chunks).toString("utf8") }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    failed(this.#call, error);
  }
}

/** Chunks as one buffer, not copied when there is but one. */
export function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks);
}
