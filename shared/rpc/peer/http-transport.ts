import type { Dispatcher } from "undici";
import { err, ok } from "../../lib/result.ts";
import { type Call, RAW_LIMIT, type Transport, tooLarge } from "./call.ts";
import { endFailed } from "./connection-fault.ts";
import type { Targets } from "./targets.ts";

/** Creates the transport that sends each request as an HTTP request. */
export function createHttpTransport(targets: Targets): Transport {
  return {
    send({ endpoint, method, body }, call) {
      const target = targets.of(endpoint);
      if (!target) return call.settle(noHttpUrl(endpoint));
      const headers = body === null ? bearerOf(call) : jsonHeaders(call);
      const reset = call.closesConnection ? { reset: true } : {};
      target.pool.dispatch({ path: target.path, method, body, headers, ...reset }, new Exchange(call));
    },
    close: () => targets.close(),
  };
}

const JSON_CONTENT = { "content-type": "application/json" };

const bearerOf = ({ bearer }: Call) => (bearer === undefined ? null : { authorization: `Bearer ${bearer}` });

/** Returns the headers of a JSON body, with the bearer token and the headers of the call. */
const jsonHeaders = (call: Call): Record<string, string> =>
  call.bearer === undefined && !call.headers ? JSON_CONTENT : { ...JSON_CONTENT, ...bearerOf(call), ...call.headers };

const noHttpUrl = (endpoint: string) =>
  err({
    cause: "refused",
    detail: "the endpoint is not an http URL",
    systemMessage: `not an http URL: ${endpoint.slice(0, 200)}`,
  } as const);

/** The handler that undici calls for one request and its response. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: Call;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #status = 0;
  #retryAfter: string | undefined;
  #controller: Dispatcher.DispatchController | null = null;

  constructor(call: Call) {
    this.#call = call;
    call.onSettled = (isAnswered) => {
      if (!isAnswered) this.#controller?.abort(new Error("the call has ended"));
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#call.isSettled) controller.abort(new Error("the call has ended"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = statusCode;
    const retryAfter = statusCode < 400 ? undefined : headers["retry-after"];
    if (typeof retryAfter === "string") this.#retryAfter = retryAfter;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxReplyBytes } = this.#call;
    this.#sizeBytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#sizeBytes <= maxReplyBytes) return;
    this.#call.settle(tooLarge(maxReplyBytes, Buffer.concat(this.#chunks).toString("utf8", 0, RAW_LIMIT)));
  }

  onResponseEnd(): void {
    const reply = { status: this.#status, text: joinChunks(this.#chunks).toString("utf8") };
    this.#call.settle(ok(this.#retryAfter === undefined ? reply : { ...reply, retryAfter: this.#retryAfter }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    endFailed(this.#call, error);
  }
}

/** Returns the chunks as one buffer. A single chunk is not copied. */
function joinChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks);
}
