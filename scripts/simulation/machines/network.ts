import { err, ok } from "#shared/lib/result.ts";
import type { Network } from "#shared/rpc/network.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import type { ConnectionPool } from "#shared/rpc/peer/targets.ts";
import type { ProcessClock } from "./clock.ts";
import { Connection, HOST, type NetworkOptions, resetError, type Server, type Wire } from "./connection.ts";

export interface SimulatedNetwork {
  /** The network of one process, by the name of its machine. `stop` closes it, as a kill does. */
  of(machine: string, clock: ProcessClock): Network & { stop(): void; connections(): number };
}

/** How long a stopping server waits for its answers. */
const LAST_ANSWERS_MS = 300;
/** A network in which every machine has the address of loopback, with ports that no two share. */
export function createNetwork(options: NetworkOptions): SimulatedNetwork {
  const servers = new Map<string, Server>();
  return {
    of(machine, clock) {
      const connections = new Set<Connection>();
      const breaks: (() => void)[] = [];
      return {
        async listen(given) {
          const port = given.ports.find((one) => !servers.has(originOf(one)));
          if (port === undefined) return err(`port ${given.ports[0]} is taken`);
          const origin = originOf(port);
          const server: Server = { machine, options: given, open: new Set(), answering: new Set() };
          servers.set(origin, server);
          const close = async (): Promise<void> => {
            if (servers.get(origin) === server) servers.delete(origin);
            // The server of production waits for its last answers, too.
            const waiting = new AbortController();
            const answered = Promise.all(server.answering);
            await Promise.race([answered, clock.pause(LAST_ANSWERS_MS, waiting.signal)]);
            waiting.abort();
            for (const connection of server.open) connection.fail(resetError());
          };
          breaks.push(() => {
            if (servers.get(origin) === server) servers.delete(origin);
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
          }),
        addressToward: async () => HOST,
        interfaces: () => ({}),
        connections: () => connections.size,
        stop() {
          for (const connection of connections) connection.drop();
          for (const end of breaks) end();
        },
      };
    },
  };
}

const originOf = (port: number): string => `http://${HOST}:${port}`;

/** Connections of a process to an origin: each request has its own. `all` are those of the process. */
function connect(wire: Wire, from: string, origin: string, all: Set<Connection>): ConnectionPool {
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
