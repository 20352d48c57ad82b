import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { afterEach, beforeEach } from "vitest";
import { createForwarder, type Forwarding } from "#shared/rpc/http/forwarding.ts";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { createUpgrades } from "#shared/rpc/http/upgrade.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import { systemClock } from "../../lib/clock.ts";
import { listenOnLoopback } from "./loopback.ts";

/** Two servers of a service. The first passes requests below /far/, and those in the MCP session `far`, on to the second. */
interface Service {
  servers: { readonly server: Server; readonly close: () => void }[];
  ports: number[];
  /** The requests that a server has answered itself. */
  received: HttpContext[];
  /** The answer of the second server at `/far/post`. */
  answer: (body: string, http: HttpContext) => Promise<HttpReply>;
  /** The answer of the second server at other paths. */
  web: (request: IncomingMessage, response: ServerResponse) => void;
  /** The answer of the first server if the second does not listen. */
  whenGone: HttpReply | undefined;
  /** The origins of the servers that did not listen. */
  gone: string[];
  /** Whether the second server belongs to the service. */
  isKnown: boolean;
  listeners: (() => void)[];
}

const newService = (): Service => ({
  servers: [],
  ports: [],
  received: [],
  gone: [],
  listeners: [],
  isKnown: true,
  whenGone: undefined,
  answer: async (body) => ({ status: 201, body: JSON.stringify({ length: body.length }) }),
  web: (_, response) => void response.end("page"),
});

/** Removes the second server from the service; its connections stay open. */
export function leave(service: Service): void {
  service.isKnown = false;
  for (const listener of service.listeners) listener();
}

/** The header that names the caller. It is not signed. */
export const CALLER_HEADER = "test-caller";

const rulesOf = (service: Service, passesOn: boolean): Forwarding => ({
  serverId: passesOn ? "first" : "second",
  destinationOf({ url = "", headers }) {
    if (!passesOn || !(url.startsWith("/far/") || headers["mcp-session-id"] === "far")) return null;
    const { whenGone, ports } = service;
    return { id: "second", origin: `http://127.0.0.1:${ports[1]}`, ...(whenGone && { whenGone }) };
  },
  headersFor: (caller) => ({ [CALLER_HEADER]: JSON.stringify(caller) }),
  callerIn({ headers }) {
    const caller = headers[CALLER_HEADER];
    return caller === undefined ? null : JSON.parse(String(caller));
  },
  onGone: ({ origin }) => void service.gone.push(origin),
  isServer: () => false,
  isKnown: () => service.isKnown,
  onChange(listener) {
    service.listeners.push(listener);
    return () => {};
  },
});

async function start(service: Service, passesOn: boolean): Promise<void> {
  const onError = (thrown: unknown): void => {
    throw thrown;
  };
  const upgrades = createUpgrades({
    handler: ({ path, http }) => {
      service.received.push(http);
      if (path !== "/far/echo") return { status: 401, code: "UNAUTHORIZED", message: "no" };
      return { accept: (socket) => ({ onMessage: (text) => socket.send(`echo ${text}`), onClose: () => {} }) };
    },
    bodyLimit: () => 1_000,
    clock: systemClock,
    onError,
  });
  const forwarder = createForwarder(rulesOf(service, passesOn), systemClock);
  const server = httpEndpoint({
    handler: async (_, http) => {
      service.received.push(http);
      return { status: 200, body: "" };
    },
    posts: {
      isAt: (path) => path.startsWith("/far/post"),
      handler: (body, http) => {
        service.received.push(http);
        return service.answer(body, http);
      },
    },
    isReady: () => true,
    web: async () => (request, response) => service.web(request, response),
    upgrades,
    forwarder,
    bodyLimit: () => 1_000_000,
    allowedHosts: ["league.example"],
    onError,
    allowedOrigins: ["https://app.example"],
  });
  const close = (): void => {
    upgrades.close();
    forwarder.close();
  };
  service.servers.push({ server, close });
  service.ports.push(await listenOnLoopback(server));
}

/** Starts both servers before each test of a file, and ends them after it. Their behaviour can be changed in the returned object. */
export function serviceOfTwo(): Service {
  const service = newService();
  beforeEach(async () => {
    Object.assign(service, newService());
    await start(service, true);
    await start(service, false);
  });
  afterEach(async () => {
    for (const { server, close } of service.servers) {
      close();
      server.closeAllConnections();
      if (server.listening) await once(server.close(), "close");
    }
  });
  return service;
}
