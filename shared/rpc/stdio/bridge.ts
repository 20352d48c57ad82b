import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  parseJSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/result.ts";
import { parsedJson } from "../../lib/text.ts";
import { BridgeSession } from "./bridge-session.ts";
import type { Reply } from "./connection.ts";
import { listen } from "./listen.ts";
import { errorFor, isRequest, isResponse, isStateless } from "./messages.ts";
import { type Stdio, StdioTransport } from "./stdio-transport.ts";
import { Upstream } from "./upstream.ts";

interface BridgeOptions extends Stdio {
  /** The endpoint of the MCP server, e.g. `http://127.0.0.1:8001/mcp`. */
  readonly url: string;
  /** Writes a line to the log of the command. */
  readonly say: (line: string) => void;
  readonly clock: Clock;
}

/** A request of the client without an answer. */
interface Pending {
  readonly cancel: AbortController;
  readonly isStateless: boolean;
  /** Whether the client has cancelled the request. It then expects no answer. */
  isCancelled: boolean;
}

/** The code that MCP's SDKs use for a lost connection. */
const NO_CONNECTION = -32000;
const END_SESSION_MS = 500;
const HANDSHAKE = new Set(["initialize", "notifications/initialized"]);
const ErrorBody = z.object({
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});

/**
 * Forwards the messages of a client to an MCP server over HTTP and back, in both eras (MCP 2025-11-25 and 2026-07-28). Every request is
 * answered: with an error if the server cannot be reached or the connection breaks.
 */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #client: StdioTransport;
  readonly #upstream: Upstream;
  readonly #session: BridgeSession;
  readonly #closing = new AbortController();
  readonly #pending = new Map<RequestId, Pending>();
  /** Settles when the handshake is over. Later messages wait for it, because HTTP requests may overtake each other. */
  #handshake: Promise<void> = Promise.resolve();

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#client = new StdioTransport({ ...options, parse: parseJSONRPCMessage });
    this.#upstream = new Upstream(options.url, options.clock);
    this.#session = new BridgeSession({
      upstream: this.#upstream,
      send: (message) => this.#send(message),
      say: options.say,
      closing: this.#closing.signal,
      clock: options.clock,
    });
  }

  /** Resolves when the client has disconnected. */
  get ended(): Promise<void> {
    return this.#client.ended;
  }

  /** Starts to read messages of the client. */
  async start(): Promise<void> {
    this.#client.onmessage = (message) => {
      const done = isRequest(message)
        ? this.#request(message, this.#handshake)
        : this.#notify(message, this.#handshake);
      if ("method" in message && HANDSHAKE.has(message.method)) this.#handshake = done;
    };
    await this.#client.start();
  }

  /** Aborts the requests without an answer, and ends the session. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#session.end(this.#options.clock.timeout(END_SESSION_MS)).catch(() => {}); // the server closes idle sessions
    await this.#client.close();
  }

  #send(message: JSONRPCMessage): void {
    void this.#client.send(message);
  }

  async #request(message: JSONRPCRequest, handshake: Promise<void>): Promise<void> {
    const { id } = message;
    const pending: Pending = { cancel: new AbortController(), isStateless: isStateless(message), isCancelled: false };
    this.#pending.set(id, pending);
    await this.#answer(message, pending, handshake);
    if (this.#pending.get(id) === pending) this.#pending.delete(id);
  }

  async #answer(message: JSONRPCRequest, pending: Pending, handshake: Promise<void>): Promise<void> {
    const { id, method } = message;
    const { url, say } = this.#options;
    const closing = this.#closing.signal;
    let isAnswered = false;
    const onMessage = (received: JSONRPCMessage): void => {
      const isAnswer = isResponse(received) && received.id === id;
      isAnswered ||= isAnswer;
      // The server may have answered before it received the cancellation. The client does not expect the answer any more.
      if (!isAnswer || !pending.isCancelled) this.#send(received);
    };
    try {
      await handshake;
      const reply = await this.#forward(message, onMessage, AbortSignal.any([pending.cancel.signal, closing]));
      if (!isAnswered && !pending.isCancelled) this.#send(missingAnswer(reply, id, url));
    } catch (thrown) {
      if (isAnswered || pending.isCancelled || closing.aborted) return;
      this.#send(errorFor(id, NO_CONNECTION, messageOf(thrown)));
      say(`${method}: ${messageOf(thrown)}`);
    }
  }

  /** Sends a notification, or the client's answer to a request of the server. */
  async #notify(message: JSONRPCMessage, handshake: Promise<void>): Promise<void> {
    const method = "method" in message ? message.method : undefined;
    const requestId = "params" in message ? (message.params?.requestId as RequestId) : "";
    const cancelled = method === "notifications/cancelled" ? this.#pending.get(requestId) : undefined;
    if (cancelled) cancelled.isCancelled = true;
    try {
      await handshake;
      // In the stateless revision a request is cancelled by closing its connection.
      if (!cancelled?.isStateless) await this.#forward(message, (one) => this.#send(one), this.#closing.signal);
    } catch (thrown) {
      if (!this.#closing.signal.aborted)
        this.#options.say(`${method ?? "an answer"} was not delivered: ${messageOf(thrown)}`);
    } finally {
      cancelled?.cancel.abort();
    }
  }

  #forward(message: JSONRPCMessage, onMessage: (message: JSONRPCMessage) => void, signal: AbortSignal): Promise<Reply> {
    if (!isStateless(message)) return this.#session.forward(message, onMessage, signal);
    const upstream = this.#upstream;
    if (!isRequest(message) || message.method !== "subscriptions/listen")
      return upstream.exchange(message, { session: null, onMessage, signal });
    return listen({ upstream, message, onMessage, signal, clock: this.#options.clock });
  }
}

/** Returns the error for a request whose reply contains no answer with its id. */
function missingAnswer({ status, errorBody }: Reply, id: RequestId, url: string): JSONRPCMessage {
  // A body that is too large, for example, is rejected before its id is read.
  const rejection = ErrorBody.safeParse(parsedJson(errorBody)).data?.error;
  if (rejection) return errorFor(id, rejection.code, rejection.message, rejection.data);
  const how = status < 300 ? "ended its reply without an answer" : `answered with HTTP status ${status}`;
  return errorFor(id, NO_CONNECTION, `The MCP server at ${url} ${how}`);
}
