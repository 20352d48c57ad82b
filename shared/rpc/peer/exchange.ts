import type { Dispatcher } from "undici";
import type { Clock } from "../../lib/clock.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { codeOf, connectionFault } from "./connection-fault.ts";
import { CANCELLED, type CallFault, type CallOptions, Pending, RAW_LIMIT, type RawReply } from "./pending.ts";

/** The connections and the path of an endpoint. An endpoint is parsed once, because an agent calls the same few endpoints many times. */
export interface Target {
  readonly pool: Pick<Dispatcher, "dispatch">;
  readonly path: string;
}

/** Error codes of a shortage on this machine. It is not a fault of the called agent, so such a call rejects. */
const LOCAL_SHORTAGES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EADDRNOTAVAIL", "ENOBUFS"]);

/** Sends one request. Resolves with the response or a fault. Rejects only if this machine has a shortage of files, memory or ports. */
export const exchange = (
  target: Target,
  method: "POST" | "GET",
  body: string | null,
  options: CallOptions,
  clock: Clock,
): Promise<Result<RawReply, CallFault>> =>
  new Promise((resolve, reject) => {
    if (options.signal?.aborted) resolve(CANCELLED);
    else send(target, method, body, new Pending(options, clock, resolve, reject));
  });

/** Sends the request of a call and settles the call with the response. */
export function send({ pool, path }: Target, method: "POST" | "GET", body: string | null, call: Pending): void {
  const headers = body === null ? bearerOf(call) : jsonHeaders(call);
  pool.dispatch({ path, method, body, headers }, new Exchange(call));
}

const JSON_CONTENT = { "content-type": "application/json" };

const bearerOf = ({ bearer }: Pending) => (bearer === undefined ? null : { authorization: `Bearer ${bearer}` });

/** Returns the headers of a JSON body, with the bearer token of the call. */
export const jsonHeaders = (call: Pending): Record<string, string> =>
  call.bearer === undefined ? JSON_CONTENT : { ...JSON_CONTENT, ...bearerOf(call) };

/** Ends a call whose connection failed: rejects it if this machine has a shortage, otherwise settles it with a fault of the connection. */
export function endFailed(call: Pending, error: Error): void {
  if (LOCAL_SHORTAGES.has(codeOf(error))) {
    call.reject(error);
    return;
  }
  call.settle(err(connectionFault(error)));
}

/** The handler that undici calls for one request and its response. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: Pending;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #status = 0;
  #controller: Dispatcher.DispatchController | null = null;

  constructor(call: Pending) {
    this.#call = call;
    call.onSettled = (isAnswered) => {
      if (!isAnswered) this.#controller?.abort(new Error("the call has ended"));
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#call.isSettled) controller.abort(new Error("the call has ended"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    this.#status = statusCode;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxReplyBytes } = this.#call;
    this.#sizeBytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#sizeBytes <= maxReplyBytes) return;
    const raw = Buffer.concat(this.#chunks).toString("utf8", 0, RAW_LIMIT);
    this.#call.settle(err({ cause: "too_large", detail: `the answer is larger than ${maxReplyBytes} bytes`, raw }));
  }

  onResponseEnd(): void {
    this.#call.settle(ok({ status: this.#status, text: joinChunks(this.#chunks).toString("utf8") }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    endFailed(this.#call, error);
  }
}

/** Returns the chunks as one buffer. A single chunk is not copied. */
export function joinChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks);
}
