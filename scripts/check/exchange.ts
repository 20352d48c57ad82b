import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { ConnectionPool, DispatchController, DispatchHandler, OpenPool } from "#shared/rpc/peer/http-transport.ts";

/** One HTTP request with its reply, as they were on the wire. */
export interface Exchange {
  /** The program that sent the request. */
  readonly from: "check" | "player";
  readonly method: string;
  /** The URL of a request to the player, or the path of a request of the player. */
  readonly url: string;
  readonly request: string;
  /** null if no reply arrived. */
  readonly reply: Reply | null;
  /** The reason why the reply is missing or incomplete, for people; null if it is complete. */
  readonly fault: string | null;
  /** The time from the request to the end of the reply or to the fault, in whole milliseconds. */
  readonly durationMs: number;
}

export interface Reply {
  readonly status: number;
  /** The content type; an empty text if the reply has none. */
  readonly contentType: string;
  /** The received part of the body as text. */
  readonly body: string;
  /** The number of bytes that the content-length announces and that have not arrived; absent if there are none. */
  readonly missingBytes?: number;
}

/** Whether a URL is that of an inbox at the manager of the check, whose player polls it. */
export const isInboxUrl = (url: string): boolean => /\/inbox\/[^/]+\/mcp$/.test(url);

/** Longer replies are recorded up to this length; a referee accepts 256 kB. */
const MAX_RECORDED_BYTES = 64 * 1024;

/** The message with which the client ends a call at its time limit. */
const ABORTED = "the call has ended";

/** Records the HTTP exchanges that a function causes, also if several functions run at the same time. */
export class Recorder {
  readonly #current = new AsyncLocalStorage<Exchange[]>();

  /** Runs a function and resolves with its result and with the exchanges that it has caused, in the order in which they ended. */
  async record<T>(run: () => Promise<T>): Promise<{ readonly value: T; readonly exchanges: readonly Exchange[] }> {
    const exchanges: Exchange[] = [];
    const value = await this.#current.run(exchanges, run);
    return { value, exchanges };
  }

  /** Returns a function that adds an exchange to the recording in which this method was called. */
  receiver(): (exchange: Exchange) => void {
    const exchanges = this.#current.getStore();
    return (exchange) => void exchanges?.push(exchange);
  }
}

/** Returns connection pools that record each exchange. */
export const recordingPools =
  (open: OpenPool, recorder: Recorder, clock: Clock): OpenPool =>
  (origin) => {
    const pool = open(origin);
    const recording: ConnectionPool = {
      isBusy: () => pool.isBusy(),
      destroy: () => pool.destroy(),
      dispatch(options, handler) {
        const request = typeof options.body === "string" ? options.body : "";
        const about = { from: "check", method: options.method, url: `${origin}${options.path}`, request } as const;
        return pool.dispatch(options, new RecordingHandler(handler, about, recorder.receiver(), clock));
      },
    };
    return recording;
  };

/** Passes the events of one request on to the handler of the client, and records the exchange when it has ended. */
class RecordingHandler implements DispatchHandler {
  readonly #handler: DispatchHandler;
  readonly #about: Pick<Exchange, "from" | "method" | "url" | "request">;
  readonly #receive: (exchange: Exchange) => void;
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #head: { readonly status: number; readonly contentType: string; readonly contentLength: number } | null = null;

  constructor(
    handler: DispatchHandler,
    about: Pick<Exchange, "from" | "method" | "url" | "request">,
    receive: (exchange: Exchange) => void,
    clock: Clock,
  ) {
    this.#handler = handler;
    this.#about = about;
    this.#receive = receive;
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(...args: Parameters<NonNullable<DispatchHandler["onResponseStart"]>>): void {
    const [, status, headers] = args;
    const [contentType, contentLength] = [headers["content-type"] ?? "", headers["content-length"] ?? 0];
    this.#head = { status, contentType: String(contentType), contentLength: Number(contentLength) };
    this.#handler.onResponseStart?.(...args);
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.#sizeBytes < MAX_RECORDED_BYTES) this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(...args: Parameters<NonNullable<DispatchHandler["onResponseEnd"]>>): void {
    this.#end(null);
    this.#handler.onResponseEnd?.(...args);
  }

  onResponseError(controller: DispatchController, error: Error): void {
    const message = messageOf(error);
    this.#end(message === ABORTED ? "the check has stopped waiting for the reply" : message);
    this.#handler.onResponseError?.(controller, error);
  }

  #reply(): Reply | null {
    if (this.#head === null) return null;
    const { contentLength, ...head } = this.#head;
    const missingBytes = contentLength - this.#sizeBytes;
    const body = Buffer.concat(this.#chunks).toString("utf8");
    return { ...head, body, ...(missingBytes > 0 && { missingBytes }) };
  }

  #end(fault: string | null): void {
    this.#receive({
      ...this.#about,
      reply: this.#reply(),
      fault,
      durationMs: Math.round(this.#clock.monotonic() - this.#startedMs),
    });
  }
}
