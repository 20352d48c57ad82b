import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import type { Server } from "@modelcontextprotocol/server";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import type { McpService } from "./server.ts";
import { type IdleTimes, Session } from "./session.ts";
import { type SessionLimits, SessionTable } from "./session-table.ts";

interface OpenSessionsOptions {
  /** Returns a server for one session, which keeps the client's subscriptions in the given set. */
  readonly serverFor: (subscriptions: Set<string>) => Server;
  readonly eventStore: McpService["eventStore"];
  /** The beginning of the ids of sessions. */
  readonly idPrefix: string;
  readonly limits: SessionLimits;
  readonly times: IdleTimes;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The minimum pause before a client reconnects to a stream that can be resumed. */
const RETRY_MS = 500;

/** The open MCP sessions of one endpoint. */
export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #byId = new Map<string, Session>();
  readonly #table: SessionTable<Session>;
  readonly #stopChecks: () => void;

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
    this.#table = new SessionTable(options.limits, (session) => session.destroy());
    this.#stopChecks = options.clock.every(options.times.checkEveryMs, () => {
      for (const session of this.#table.all) session.checkIdle(options.times);
    });
  }

  /** The session that the header `Mcp-Session-Id` names, if it is open. */
  named({ headers }: IncomingMessage): Session | undefined {
    return this.#byId.get(headers["mcp-session-id"] as string);
  }

  /** Answers an `initialize` and opens its session. Returns false, without an answer, if the table of sessions is full. */
  async open(
    remoteAddress: string,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
  ): Promise<boolean> {
    if (!this.#table.makeRoom(remoteAddress)) return false;
    const session = this.#create(remoteAddress);
    this.#table.add(session); // before the first await, so that concurrent requests count each other
    await session.initialize(request, response, body);
    return true;
  }

  #create(remoteAddress: string): Session {
    const { serverFor, eventStore, idPrefix, clock, ids } = this.#options;
    const subscriptions = new Set<string>();
    const server = serverFor(subscriptions);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => `${idPrefix}${ids.uuid()}`,
      onsessioninitialized: (id) => void this.#byId.set(id, session),
      ...(eventStore && { eventStore: eventStore(), retryInterval: RETRY_MS }),
    });
    const session = new Session({ remoteAddress, transport, server, subscriptions, clock });
    server.onclose = () => {
      this.#byId.delete(transport.sessionId ?? "");
      this.#table.delete(session);
    };
    return session;
  }

  /** Notifies the subscribed clients that a resource has changed. */
  notify(uri: string, onError: (error: unknown) => void): void {
    for (const session of this.#byId.values()) session.notify(uri).catch(onError);
  }

  async close(): Promise<void> {
    this.#stopChecks();
    await Promise.all([...this.#byId.values()].map((session) => session.close()));
  }
}
