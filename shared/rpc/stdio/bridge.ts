import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResultResponse,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { type Reply, type SessionKey, Upstream } from "./bridge-connection.ts";
import { type Stdio, StdioTransport } from "./stdio-transport.ts";

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

interface BridgeSessionOptions {
  readonly upstream: Upstream;
  /** Sends a message to the client. */
  readonly send: (message: JSONRPCMessage) => void;
  /** Writes a line to the log of the command. */
  readonly say: (line: string) => void;
  /** Aborted when the bridge closes. */
  readonly closing: AbortSignal;
  readonly clock: Clock;
}

type Receiver = (message: JSONRPCMessage) => void;

/** The pause before a broken stream is opened again. */
const RETRY_MS = 1_000;
const RENEWAL_ID = "initialize-again";
const MAX_SUBSCRIPTIONS = 1_000;
const NO_REPLY: Reply = { status: 202, sessionId: null, errorBody: "" };

/**
 * The session of a client with a server of the revisions 2024-11-05 to 2025-11-25. When the server has lost the session, for example by a
 * restart, `initialize` and the subscriptions of the client are sent again, because a client on stdio initializes only once.
 */
class BridgeSession {
  readonly #options: BridgeSessionOptions;
  /** The client's `initialize`. */
  #initialize: JSONRPCRequest | null = null;
  #key: SessionKey | null = null;
  #renewal: Promise<void> | null = null;
  #isListening = false;
  readonly #subscriptions = new Set<string>();
  /** Requests of the server that the client has not answered. */
  readonly #questions = new Set<RequestId>();

  constructor(options: BridgeSessionOptions) {
    this.#options = options;
  }

  /** Sends a message of the client and calls `onResponse` with the response. Rejects as `Upstream.exchange` does. */
  async forward(message: JSONRPCMessage, onResponse: Receiver, signal: AbortSignal): Promise<Reply> {
    if (isRequest(message) && message.method === "initialize") return this.#begin(message, onResponse, signal);
    if (isResponse(message) && !this.#questions.delete(message.id)) return NO_REPLY; // the session of the question is lost
    const onMessage = (received: JSONRPCMessage): void => {
      if (isRequest(message) && isSuccess(received, message)) this.#recordSubscription(message);
      if (isResponse(received)) onResponse(received);
      else this.#receive(received);
    };
    const key = this.#key;
    const reply = await this.#post(message, onMessage, signal);
    if (reply.status === 404 && key?.id) {
      await this.#renew(key);
      return isResponse(message) ? NO_REPLY : this.#post(message, onMessage, signal);
    }
    if ("method" in message && message.method === "notifications/initialized" && reply.status === 202)
      void this.#listen();
    return reply;
  }

  /** Ends the session at the server. */
  async end(signal: AbortSignal): Promise<void> {
    const key = this.#key;
    this.#key = null;
    if (key?.id) await this.#options.upstream.end(key, signal);
  }

  async #begin(message: JSONRPCRequest, onResponse: Receiver, signal: AbortSignal): Promise<Reply> {
    await this.end(this.#options.closing).catch(() => {}); // a client may initialize a second time
    this.#initialize = message;
    this.#subscriptions.clear();
    return this.#open(message, onResponse, signal);
  }

  async #open(message: JSONRPCRequest, onResponse: Receiver, signal: AbortSignal): Promise<Reply> {
    let revision: string | null = null;
    const onMessage = (received: JSONRPCMessage): void => {
      if (isSuccess(received, message)) revision = String(received.result.protocolVersion);
      onResponse(received);
    };
    const reply = await this.#options.upstream.exchange(message, { session: null, onMessage, signal });
    if (revision !== null) this.#key = { id: reply.sessionId, revision };
    return reply;
  }

  #post(message: JSONRPCMessage, onMessage: Receiver, signal: AbortSignal): Promise<Reply> {
    return this.#options.upstream.exchange(message, { session: this.#key, onMessage, signal });
  }

  /** Forwards a request or notification of the server to the client. */
  #receive(message: JSONRPCMessage): void {
    if (isRequest(message)) this.#questions.add(message.id);
    else if ("method" in message && message.method === "notifications/cancelled")
      this.#questions.delete(message.params?.requestId as RequestId);
    this.#options.send(message);
  }

  /** Opens a new session in place of a lost one. Concurrent calls share one renewal. */
  async #renew(lost: SessionKey | null): Promise<void> {
    if (this.#key !== lost) return;
    this.#renewal ??= this.#reopen(lost).finally(() => {
      this.#renewal = null;
    });
    await this.#renewal;
  }

  async #reopen(lost: SessionKey | null): Promise<void> {
    const { send, say, closing } = this.#options;
    for (const requestId of this.#questions) send(notification("notifications/cancelled", { requestId }));
    this.#questions.clear();
    await this.#open({ ...(this.#initialize as JSONRPCRequest), id: RENEWAL_ID }, () => {}, closing);
    if (this.#key === lost) throw new Error("The MCP server has lost the session and does not open another one");
    try {
      await this.#post(notification("notifications/initialized"), () => {}, closing);
      for (const uri of this.#subscriptions) await this.#post(subscribe(uri), () => {}, closing);
    } catch (thrown) {
      this.#key = lost; // the next message renews the session again
      throw thrown;
    }
    say("the server had lost the session; a new session has been opened");
  }

  /** Reads the streams of the session and of the sessions that replace it, until the bridge closes. */
  async #listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    await this.#readStreams();
    this.#isListening = false;
  }

  async #readStreams(): Promise<void> {
    const { upstream, send, closing, clock } = this.#options;
    let isFirst = true;
    const onOpen = (): void => {
      // The client may have missed a change between two streams.
      if (!isFirst) for (const uri of this.#subscriptions) send(updated(uri));
      isFirst = false;
    };
    const onMessage = (message: JSONRPCMessage): void => this.#receive(message);
    while (!closing.aborted) {
      const session = this.#key;
      try {
        const { status } = await upstream.listen({ session, onMessage, onOpen, signal: closing });
        if (status === 404) await this.#renew(session);
        else if (status !== 200) return; // the server has no streams
      } catch {
        // The server cannot be reached: requests are answered with an error, and the stream is opened again.
      }
      await clock.pause(RETRY_MS, closing);
    }
  }

  #recordSubscription({ method, params }: JSONRPCRequest): void {
    const uri = String(params?.uri);
    if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    else if (method === "resources/subscribe" && this.#subscriptions.size < MAX_SUBSCRIPTIONS)
      this.#subscriptions.add(uri);
  }
}

const subscribe = (uri: string): JSONRPCRequest => ({
  jsonrpc: "2.0",
  id: `subscribe-again ${uri}`,
  method: "resources/subscribe",
  params: { uri },
});

interface Subscription {
  readonly upstream: Upstream;
  /** The request `subscriptions/listen`. */
  readonly message: JSONRPCRequest;
  readonly onMessage: (message: JSONRPCMessage) => void;
  /** Aborting it ends the subscription. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/**
 * Forwards a subscription of the stateless revision. When its stream ends, for example by a restart of the server, the subscription is sent
 * again. The client does not receive the second acknowledgement. It is notified of every resource, because it may have missed a change.
 * Resolves only if the server rejects the subscription; rejects as `Upstream.exchange` does before the server has acknowledged it.
 */
async function listen({ upstream, message, onMessage, signal, clock }: Subscription): Promise<Reply> {
  let isAcknowledged = false;
  let isRejected = false;
  const receive = (received: JSONRPCMessage): void => {
    if ("method" in received && received.method === ACKNOWLEDGED) {
      for (const one of isAcknowledged ? updates(received) : [received]) onMessage(one);
      isAcknowledged = true;
    } else if (!isResponse(received)) onMessage(received);
    else if ("error" in received || !isAcknowledged) {
      isRejected = true;
      onMessage(received);
    }
  };
  for (;;) {
    try {
      const reply = await upstream.exchange(message, { session: null, onMessage: receive, signal });
      if (isRejected || !isAcknowledged) return reply;
    } catch (thrown) {
      if (signal.aborted || !isAcknowledged) throw thrown;
    }
    if (!(await clock.pause(RETRY_MS, signal))) throw signal.reason;
  }
}

/** Returns a notification for each resource of an acknowledged subscription. */
function updates({ params }: JSONRPCNotification | JSONRPCRequest): readonly JSONRPCMessage[] {
  const filter = params?.notifications as { readonly resourceSubscriptions?: readonly string[] } | undefined;
  return (filter?.resourceSubscriptions ?? []).map((uri) => updated(uri, params?._meta));
}

type JSONRPCResponse = (JSONRPCErrorResponse | JSONRPCResultResponse) & { readonly id: string | number };

// The guards of the SDK validate a message with a schema. These messages have been validated already.

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest => "method" in message && "id" in message;

const isResponse = (message: JSONRPCMessage): message is JSONRPCResponse =>
  !("method" in message) && message.id !== undefined;

/** Whether a message is the successful response to a request. */
const isSuccess = (message: JSONRPCMessage, { id }: JSONRPCRequest): message is JSONRPCResultResponse =>
  "result" in message && message.id === id;

/** Whether a message is of the stateless revision, in which each request names its revision. */
const isStateless = (message: JSONRPCMessage): boolean =>
  "method" in message && typeof message.params?._meta?.[PROTOCOL_VERSION_META_KEY] === "string";

/** Returns a notification with these parameters. */
const notification = (method: string, params?: JSONRPCNotification["params"]): JSONRPCNotification => ({
  jsonrpc: "2.0",
  method,
  ...(params && { params }),
});

/** Returns the notification that a resource may have changed. In the stateless revision `_meta` names the subscription. */
const updated = (uri: string, _meta?: Record<string, unknown>): JSONRPCNotification =>
  notification("notifications/resources/updated", { uri, ...(_meta !== undefined && { _meta }) });

/** Returns the response to a request that failed. */
const errorFor = (id: string | number, code: number, message: string, data?: unknown): JSONRPCErrorResponse => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});
