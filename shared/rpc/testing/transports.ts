/** Servers for the contract of the transports: one for each transport, which a test scripts in the same way. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocketServer } from "ws";
import { loadWs } from "#shared/rpc/websocket/websocket.ts";
import { listen } from "./peer.ts";

/** A call that a scripted server has received. */
export interface ReceivedCall {
  readonly id: number;
  readonly body: unknown;
  /** The request that carried the call, or that opened its WebSocket. */
  readonly request: IncomingMessage;
  readonly isOverSocket: boolean;
  /** Answers with a text, which may be invalid. `status` is the HTTP status of an answer by POST. */
  answer(text: string, status?: number): void;
  /** Sends the first half of an answer and closes the connection. */
  breakOff(text: string): void;
  /** Sends an answer without an end. */
  flood(): void;
  /** Closes the connection without an answer. */
  drop(): void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
}

interface ScriptedServer {
  readonly url: string;
  readonly calls: ReceivedCall[];
  /** The open connections. */
  readonly connections: Set<Duplex>;
}

export type TransportScript = (call: ReceivedCall) => void;

/** One of the transports of the client. */
interface TransportUnderTest {
  readonly name: string;
  /** The options of a call over the transport. */
  readonly options: { readonly socket?: boolean };
  /** Starts a server that passes each call to a script. */
  start(script: TransportScript, port?: number): Promise<ScriptedServer>;
}

/** The first bytes of a text frame of 1 MB without a mask. */
const ENDLESS_FRAME = Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0x10, 0, 0]);

function postedCall(text: string, request: IncomingMessage, response: ServerResponse): ReceivedCall {
  const body = JSON.parse(text);
  return {
    id: body.id,
    body,
    request,
    isOverSocket: false,
    closed: closedOf(request.socket),
    answer: (text, status = 200) => void (response.headersSent || response.writeHead(status).end(text)),
    breakOff(text) {
      response.writeHead(200, { "content-length": text.length });
      response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
    },
    flood() {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.on("drain", more);
      more();
    },
    drop: () => void request.socket.destroy(),
  };
}

type Accepted = Parameters<Parameters<WebSocketServer["handleUpgrade"]>[3]>[0];

function framedCall(text: string, request: IncomingMessage, socket: Accepted): ReceivedCall {
  const body = JSON.parse(text);
  const connection = request.socket;
  return {
    id: body.id,
    body,
    request,
    isOverSocket: true,
    closed: closedOf(connection),
    answer: (text) => socket.send(text),
    breakOff(text) {
      const header = Buffer.from([0x81, 126, text.length >> 8, text.length & 0xff]);
      connection.write(Buffer.concat([header, Buffer.from(text.slice(0, text.length / 2))]), () =>
        connection.destroy(),
      );
    },
    flood() {
      connection.write(ENDLESS_FRAME);
      const more = (): void => {
        while (!connection.destroyed && connection.write("x".repeat(16_384)));
      };
      connection.on("drain", more);
      more();
    },
    drop: () => void connection.destroy(),
  };
}

/** The end of each connection. Calls on one connection share a listener. */
const ends = new WeakMap<Duplex, Promise<void>>();

function closedOf(connection: Duplex): Promise<void> {
  const known = ends.get(connection);
  if (known) return known;
  const end = new Promise<void>((resolve) => void connection.once("close", resolve));
  ends.set(connection, end);
  return end;
}

async function start(script: TransportScript, port: number, hasSockets: boolean): Promise<ScriptedServer> {
  const calls: ReceivedCall[] = [];
  const connections = new Set<Duplex>();
  const receive = (call: ReceivedCall): void => {
    calls.push(call);
    script(call);
  };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    receive(postedCall(text, request, response));
  });
  server.on("connection", (connection: Duplex) => {
    connections.add(connection);
    connection.on("error", () => {});
    connection.on("close", () => connections.delete(connection));
  });
  if (hasSockets) {
    const { WebSocketServer } = loadWs();
    const limits = { perMessageDeflate: false, maxPayload: 1_000_000 } as const;
    const isBare = { noServer: true, clientTracking: false } as const;
    const sockets = new WebSocketServer({ ...limits, ...isBare, handleProtocols: () => false as const });
    server.on("upgrade", (request, connection, head) =>
      sockets.handleUpgrade(request, connection, head, (socket) => {
        socket.on("error", () => {});
        socket.on("message", (data: Buffer) => receive(framedCall(data.toString(), request, socket)));
      }),
    );
  }
  const url = `http://127.0.0.1:${await listen(server, port)}/mcp`;
  return { url, calls, connections };
}

export const transports: readonly TransportUnderTest[] = [
  { name: "HTTP POST", options: {}, start: (script, port = 0) => start(script, port, false) },
  { name: "a WebSocket", options: { socket: true }, start: (script, port = 0) => start(script, port, true) },
];
