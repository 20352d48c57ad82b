import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "#shared/lib/clock.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { Gate, HttpContext, McpHandler } from "#shared/rpc/jsonrpc/http-context.ts";
import { idOf, TOO_MANY } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { type MessageSocket, messageSocket, type SocketEvents } from "#shared/rpc/websocket/message-socket.ts";
import { framesOf, loadWs } from "#shared/rpc/websocket/websocket.ts";
import { pathOf } from "./request.ts";

const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** A request to open a WebSocket. Its Host, its Origin and the rate limits have been checked. */
interface UpgradeRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** `http.bearer` is the token of the Authorization header, or of the subprotocol `bearer.<token>`, for browsers. */
  readonly http: HttpContext;
}

export type UpgradeAnswer =
  /** Opens the WebSocket. `accept` is called once it is open. It returns the functions that receive its messages and its end. */
  | { readonly accept: (socket: MessageSocket) => SocketEvents }
  /** Answers with an HTTP status from 400 to 599. `code` and `message` are sent as JSON, as an error of the REST API. */
  | Refusal;

/** Answers the requests for WebSockets of a service. Returns or resolves with null if the path has no WebSocket. */
export type UpgradeHandler = (request: UpgradeRequest) => UpgradeAnswer | null | Promise<UpgradeAnswer | null>;

/** The WebSockets of a server. */
export interface Upgrades {
  /** Answers a request whose Host and Origin have been checked. Never rejects. */
  answer(request: UpgradeConnection): Promise<void>;
  /** Closes all WebSockets with the code 1001 (going away). */
  close(): void;
}

/** A request for a WebSocket and its connection. */
interface UpgradeConnection {
  readonly request: IncomingMessage;
  readonly connection: Duplex;
  readonly head: Buffer;
  readonly http: HttpContext;
}

interface UpgradeOptions {
  readonly handler: UpgradeHandler;
  readonly gate?: Gate | undefined;
  /** Returns the largest accepted message of a caller, in bytes. */
  readonly bodyLimit: (http: HttpContext) => number;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** The subprotocol that the server selects if the client offers it. */
const SUBPROTOCOL = "league.v2";
const BEARER_PREFIX = "bearer.";
const GOING_AWAY = 1001;
const NOT_FOUND = { status: 404, code: "NOT_FOUND", message: "no WebSocket at this path" };
const TOO_MANY_REQUESTS = { status: 429, code: "TOO_MANY_REQUESTS", message: "Too many requests; see Retry-After" };
const UNAVAILABLE = { status: 503, code: "UNAVAILABLE", message: "The server cannot answer now: try again" };
const INTERNAL = { status: 500, code: "INTERNAL_ERROR", message: "Internal error" };

/** Whether a request asks for a WebSocket. Other upgrades, such as HTTP/2 (h2c), are answered as plain requests. */
export const isWebSocketRequest = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket";

/** Creates the WebSockets of a server. */
export function createUpgrades({ handler, gate, bodyLimit, clock, onError }: UpgradeOptions): Upgrades {
  const open = new Set<MessageSocket>();

  const verdictOf = async (request: IncomingMessage, http: HttpContext) => {
    const verdict = gate ? await gate("", http) : null;
    const status = verdict?.rejection?.status;
    if (verdict && status !== undefined)
      return { ...(status === 429 ? TOO_MANY_REQUESTS : UNAVAILABLE), headers: verdict.headers };
    const query = URL.parse(request.url ?? "/", "http://localhost")?.searchParams ?? new URLSearchParams();
    return (await handler({ path: pathOf(request), query, http })) ?? NOT_FOUND;
  };

  const openSocket = (
    { request, connection, head, http }: UpgradeConnection,
    accept: (socket: MessageSocket) => SocketEvents,
  ): void => {
    const { WebSocketServer } = loadWs();
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: bodyLimit(http),
      // The first offered subprotocol would be selected by default. It may contain the token, which the answer must not repeat.
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    server.handleUpgrade(request, connection, head, (webSocket) => {
      const opened = messageSocket(
        (events) => framesOf(webSocket, connection, clock, events),
        (socket) => {
          const events = accept(socket);
          const onClose: SocketEvents["onClose"] = (end) => {
            open.delete(opened);
            events.onClose(end);
          };
          return { onMessage: events.onMessage, onClose };
        },
        clock,
      );
      open.add(opened);
    });
  };

  return {
    async answer(upgrade) {
      const { request, connection } = upgrade;
      connection.on("error", () => {}); // a connection that breaks closes
      const http = { ...upgrade.http, bearer: upgrade.http.bearer ?? offeredToken(request) };
      try {
        const verdict = await verdictOf(request, http);
        if ("accept" in verdict) return openSocket({ ...upgrade, http }, verdict.accept);
        http.logRejection?.({ code: verdict.status, reason: verdict.message, request: `GET ${pathOf(request)}` });
        refuse(connection, verdict);
      } catch (thrown) {
        onError(thrown);
        refuse(connection, INTERNAL);
      }
    },
    close() {
      for (const socket of open) socket.close(GOING_AWAY, "the server stops");
    },
  };
}

/** Returns the token in the subprotocols `bearer.<token>` that a client offers; null without one. */
function offeredToken({ headers }: IncomingMessage): string | null {
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return offered.find((name) => name.startsWith(BEARER_PREFIX))?.slice(BEARER_PREFIX.length) || null;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request for a WebSocket with an HTTP status and closes its connection. */
export function refuse(connection: Duplex, { status, code, message, headers = {} }: Refusal): void {
  const body = JSON.stringify({ error: { code, message } });
  const all = {
    ...headers,
    connection: "close",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
}

interface McpSocketOptions {
  readonly handler: McpHandler;
  readonly gate?: Gate | undefined;
  readonly onError: (error: unknown) => void;
}

/** The largest number of requests of one WebSocket that are being answered. */
const MAX_OPEN_REQUESTS = 1_000;

/**
 * Returns the function that accepts WebSockets at `/mcp`. Each frame is a JSON-RPC message and is checked and answered like the body of a `POST /mcp`.
 * Its answer is one frame, as soon as it is ready; a notification has none.
 */
export const mcpSocket =
  ({ handler, gate, onError }: McpSocketOptions, http: HttpContext) =>
  (socket: MessageSocket): SocketEvents => {
    let openRequests = 0;
    const replyTo = async (text: string): Promise<string> => {
      try {
        const rejection = (gate && (await gate(text, http)))?.rejection ?? null;
        if (rejection)
          http.logRejection?.({ code: rejection.status, reason: "too many requests", request: "GET /mcp" });
        return (rejection ?? (await handler(text, http))).body;
      } catch (thrown) {
        onError(thrown);
        return errorReply(text, -32603, "Internal error");
      }
    };
    const answer = async (text: string): Promise<void> => {
      openRequests++;
      const reply = await replyTo(text);
      openRequests--;
      if (reply !== "") socket.send(reply);
    };
    return {
      onMessage(text) {
        if (openRequests < MAX_OPEN_REQUESTS) void answer(text);
        else socket.send(errorReply(text, TOO_MANY, `At most ${MAX_OPEN_REQUESTS} requests without an answer`));
      },
      onClose() {},
    };
  };

const errorReply = (request: string, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: idOf(parsedJson(request)), error: { code, message } });
