import type { IncomingMessage, ServerResponse } from "node:http";
import type { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import type { Server } from "@modelcontextprotocol/server";
import type { Clock } from "../../lib/clock.ts";

/** The times after which an idle session is closed. */
export interface IdleTimes {
  readonly idleMs: number;
  /** The limit for a session that has received nothing since `initialize`. */
  readonly unusedMs: number;
  readonly checkEveryMs: number;
  /** The time limit for the answer to a ping, for a client with an open stream. */
  readonly pingMs: number;
}

export const IDLE_TIMES: IdleTimes = { idleMs: 10 * 60_000, unusedMs: 45_000, checkEveryMs: 15_000, pingMs: 60_000 };

interface SessionParts {
  /** The address that opened the session. */
  readonly remoteAddress: string;
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  /** The URIs that the client has subscribed to; `server` changes them. */
  readonly subscriptions: ReadonlySet<string>;
  readonly clock: Clock;
}

/** The session of one MCP client of a revision with sessions (2024-11-05 to 2025-11-25). */
export class Session {
  readonly remoteAddress: string;
  readonly #transport: NodeStreamableHTTPServerTransport;
  readonly #server: Server;
  readonly #subscriptions: ReadonlySet<string>;
  readonly #clock: Clock;
  /** Responses to requests that are being answered. */
  readonly #calls = new Set<ServerResponse>();
  /** Responses to GET: event streams. An idle client keeps its stream open. */
  readonly #streams = new Set<ServerResponse>();
  /** The time of the last request or the end of the last response, on the monotonic clock. */
  #usedAt: number;
  /** Whether the session has received a request after `initialize`. */
  #isUsed = false;
  #isPinged = false;

  constructor({ remoteAddress, transport, server, subscriptions, clock }: SessionParts) {
    this.remoteAddress = remoteAddress;
    this.#transport = transport;
    this.#server = server;
    this.#subscriptions = subscriptions;
    this.#clock = clock;
    this.#usedAt = clock.monotonic();
  }

  get calls(): ReadonlySet<unknown> {
    return this.#calls;
  }

  get streams(): ReadonlySet<unknown> {
    return this.#streams;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** Answers a request after `initialize`. */
  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    this.#isUsed = true;
    await this.#answer(request, response, body);
  }

  /** Answers the request that opens the session. Closes the session if the SDK rejects the request. */
  async initialize(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    await this.#server.connect(this.#transport);
    await this.#answer(request, response, body);
    if (this.#transport.sessionId === undefined) await this.#transport.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    if (response.closed) return; // "close" has been emitted already, so the response would never be removed
    const responses = request.method === "GET" ? this.#streams : this.#calls;
    responses.add(response);
    response.once("close", () => {
      responses.delete(response);
      this.#usedAt = this.#clock.monotonic();
    });
    await this.#transport.handleRequest(request, response, body);
  }

  /** Notifies the client of a changed resource if it has subscribed to the resource. */
  async notify(uri: string): Promise<void> {
    if (this.#subscriptions.has(uri)) await this.#server.sendResourceUpdated({ uri });
  }

  /**
   * Closes the session if it is idle. A client with an open stream is pinged first, because a client that hangs or has lost its network
   * does not close its stream. A session with an unanswered request is kept.
   */
  checkIdle({ idleMs, unusedMs, pingMs }: IdleTimes): void {
    const limitMs = this.#isUsed ? idleMs : unusedMs;
    if (this.#calls.size > 0 || this.#isPinged || this.#clock.monotonic() - this.#usedAt <= limitMs) return;
    if (this.#streams.size > 0) void this.#ping(pingMs);
    else this.destroy();
  }

  async #ping(timeoutMs: number): Promise<void> {
    const usedAt = this.#usedAt;
    this.#isPinged = true;
    try {
      await this.#server.request({ method: "ping" }, { timeout: timeoutMs });
      this.#usedAt = this.#clock.monotonic();
    } catch {
      if (this.#usedAt === usedAt && this.#calls.size === 0) this.destroy();
    } finally {
      this.#isPinged = false;
    }
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  /** Closes the session and its connections. Otherwise a client that does not read would keep its connection open indefinitely. */
  destroy(): void {
    void this.#transport.close();
    for (const response of [...this.#calls, ...this.#streams]) response.destroy();
  }
}
