import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/client";
import type { Clock } from "../../lib/clock.ts";
import type { Reply, SessionKey } from "./connection.ts";
import { isRequest, isResponse, isSuccess, notification, updated } from "./messages.ts";
import type { Upstream } from "./upstream.ts";

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
export const RETRY_MS = 1_000;
const RENEWAL_ID = "initialize-again";
const MAX_SUBSCRIPTIONS = 1_000;
const NO_REPLY: Reply = { status: 202, sessionId: null, errorBody: "" };

/**
 * The session of a client with a server of the revisions 2024-11-05 to 2025-11-25. When the server has lost the session, for example by a
 * restart, `initialize` and the subscriptions of the client are sent again, because a client on stdio initializes only once.
 */
export class BridgeSession {
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
