import { err, ok } from "#shared/lib/result.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { ConnectionPool } from "#shared/rpc/peer/http-transport.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import type { OpenSocket } from "#shared/rpc/websocket/websocket.ts";
import type { ProcessClock } from "./clock.ts";
import { Connection, HOST, type Link, type NetworkOptions, resetError, type Server, type Wire } from "./connection.ts";
import { SocketConnection } from "./socket.ts";

/** The network that connects all machines. */
export interface SimulatedNetwork {
  /** Returns the network for one process of a machine. `stop` closes all connections and servers, as a kill does. */
  forProcess(machine: string, clock: ProcessClock): Network & { stop(): void; connections(): number };
  /** Returns the server of a machine; undefined while it does not listen. */
  serverOf(machine: string): Server | undefined;
}

/** The time that a stopping server waits for pending answers. */
const STOP_TIMEOUT_MS = 300;
/** Creates a network in which every machine has the loopback address and different ports. */
export function createNetwork(options: NetworkOptions): SimulatedNetwork {
  const servers = new Map<string, Server>();
  return {
    serverOf: (machine) => [...servers.values()].find((server) => server.machine === machine),
    forProcess(machine, clock) {
      const connections = new Set<Link>();
      const closeFunctions: (() => void)[] = [];
      return {
        async listen(listenOptions) {
          const port = listenOptions.ports.find((one) => !servers.has(originOf(one)));
          if (port === undefined) return err(`port ${listenOptions.ports[0]} is taken`);
          const origin = originOf(port);
          const takesSockets = !options.withoutSockets.includes(machine);
          const sets = { open: new Set<Link>(), answering: new Set<Promise<unknown>>() };
          const server: Server = { machine, options: listenOptions, clock, takesSockets, ...sets, isClosed: false };
          servers.set(origin, server);
          const close = async (): Promise<void> => {
            if (servers.get(origin) === server) servers.delete(origin);
            // The production server also waits for pending answers.
            const waiting = new AbortController();
            const answered = Promise.all(server.answering);
            await Promise.race([answered, clock.pause(STOP_TIMEOUT_MS, waiting.signal)]);
            waiting.abort();
            server.isClosed = true;
            for (const connection of server.open) connection.fail(resetError());
          };
          closeFunctions.push(() => {
            if (servers.get(origin) === server) servers.delete(origin);
            server.isClosed = true;
            for (const connection of server.open) connection.fail(resetError());
          });
          return ok({
            ...{ url: origin, urls: [origin], port, isOnEveryAddress: false, close },
            rejections: { write: () => {} },
          });
        },
        createPeers: () =>
          createPeers({
            clock,
            openPool: (origin) => connect({ ...options, servers }, machine, origin, connections),
            openSocket: socketsOf({ ...options, servers }, machine, connections),
          }),
        // No simulated process opens a page, so no match is watched.
        openEventStream: () => Promise.reject(new Error("the simulated network has no event streams")),
        addressToward: async () => options.addressOf(machine),
        comesFrom: async (endpoint, address) => new URL(endpoint).hostname === address,
        interfaces: () => ({}),
        connections: () => connections.size,
        stop() {
          for (const connection of connections) connection.drop();
          for (const close of closeFunctions) close();
        },
      };
    },
  };
}

const originOf = (port: number): string => `http://${HOST}:${port}`;

/** Returns the function with which a process opens WebSockets. `all` are the connections of the process. */
const socketsOf =
  (wire: Wire, from: string, all: Set<Link>): OpenSocket =>
  (address, _clock, events) => {
    const socket = new SocketConnection(wire, from, address, events, () => all.delete(socket));
    all.add(socket);
    return () => socket.cancel();
  };

/** Returns the connection pool of a process to an origin. Each request uses a new connection. `all` are the connections of the process. */
function connect(wire: Wire, from: string, origin: string, all: Set<Link>): ConnectionPool {
  const open = new Set<Connection>();
  return {
    dispatch(request, handler) {
      const connection = new Connection(wire, from, origin, request, handler, () => {
        open.delete(connection);
        all.delete(connection);
      });
      open.add(connection);
      all.add(connection);
      return true;
    },
    isBusy: () => open.size > 0,
    async destroy() {
      for (const connection of open) connection.fail(resetError());
    },
  };
}
