import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import { withArguments } from "#shared/rpc/mcp/methods.ts";
import type { Clock } from "../../lib/clock.ts";
import { parsedJson } from "../../lib/text.ts";
import { idOf } from "../jsonrpc/json-rpc.ts";
import { readLines } from "./stdio-lines.ts";

/** The two streams to the client. */
export interface Stdio {
  readonly input: Readable;
  /** Receives one JSON-RPC message per line and no other text. */
  readonly output: Writable;
}

interface StdioTransportOptions extends Stdio {
  /** The SDK's `parseJSONRPCMessage`, which throws for a value that is not a message. */
  readonly parse: (value: unknown) => JSONRPCMessage;
  readonly clock: Clock;
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const MAX_LINE_BYTES = 10 * 1024 * 1024;
const MAX_REQUESTS = 1_000;
/** The time limit for answers after the end of the input, and for the last output. */
const LAST_ANSWERS_MS = 1_000;
/** The maximum size of the unread output. If a client exceeds it, the connection ends. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/**
 * A transport of MCP messages as lines of two streams, used instead of the SDK's `StdioServerTransport` for three differences (measured with
 * 2.4.0): the transport of the SDK closes at a line of more than 10 MB, does not answer a line that is not a message, and aborts the requests
 * without an answer at the end of the input. This transport answers such lines with an error, continues, and waits for the answers.
 */
export class StdioTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Resolves when the client has disconnected: its input has ended and its requests are answered, or it does not read the output. */
  readonly ended: Promise<void>;
  readonly #options: StdioTransportOptions;
  readonly #end: () => void;
  /** Requests of the client that are not answered yet. */
  readonly #requests = new Set<RequestId>();
  #isInputOver = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  async start(): Promise<void> {
    const { input, output, clock } = this.#options;
    output.on("error", this.#end);
    readLines(input, MAX_LINE_BYTES, {
      line: (text) => this.#takeLine(text),
      tooLong: () => this.#reject(null, INVALID_REQUEST, `The line has more than ${MAX_LINE_BYTES} bytes`),
      end: () => {
        this.#isInputOver = true;
        if (this.#requests.size === 0) this.#end();
        else clock.after(LAST_ANSWERS_MS, this.#end);
      },
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
    if ("method" in message || message.id === undefined) return;
    this.#requests.delete(message.id);
    if (this.#isInputOver && this.#requests.size === 0) this.#end();
  }

  /** Waits until the output is written, at most `LAST_ANSWERS_MS`. */
  async close(): Promise<void> {
    const { output, clock } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    output.write("", () => resolve());
    clock.after(LAST_ANSWERS_MS, resolve);
    await promise;
    this.onclose?.();
  }

  #write(message: object): void {
    const { output } = this.#options;
    output.write(`${JSON.stringify(message)}\n`);
    if (output.writableLength > MAX_UNREAD_BYTES) this.#end();
  }

  #reject(id: RequestId | null, code: number, message: string): void {
    this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #takeLine(text: string): void {
    const value = parsedJson(text);
    if (value === undefined) this.#reject(null, PARSE_ERROR, "Parse error");
    else if (Array.isArray(value) && value.length > 0) for (const one of value) this.#take(one);
    else this.#take(value);
  }

  #take(value: unknown): void {
    const message = this.#parsed(value);
    if (!message) this.#reject(idOf(value), INVALID_REQUEST, "Invalid Request");
    else if (this.#hasRoomFor(message)) this.onmessage?.(message);
  }

  /** Records which requests are not answered yet. Rejects a request beyond the limit and returns false. */
  #hasRoomFor(message: JSONRPCMessage): boolean {
    if (!("method" in message)) return true;
    if (message.method === "notifications/cancelled") this.#requests.delete(message.params?.requestId as RequestId);
    if (!("id" in message) || message.method === "subscriptions/listen") return true; // a subscription lasts as long as its client
    if (this.#requests.size >= MAX_REQUESTS) {
      this.#reject(message.id, INVALID_REQUEST, `${MAX_REQUESTS} requests are not answered yet, the maximum`);
      return false;
    }
    this.#requests.add(message.id);
    return true;
  }

  #parsed(value: unknown): JSONRPCMessage | null {
    try {
      return this.#options.parse(withArguments(value));
    } catch {
      return null;
    }
  }
}
