import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A TCP proxy in front of a PostgreSQL server. Tests cut the network with it. It loses bytes and finds COMMIT in them. The forwarder in
 * `scripts/cluster/forwarder.ts` holds all bytes back without a loss, so neither is built on the other.
 */
export interface FaultProxy {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** Closes all connections, and new ones as soon as they are opened, until `restore`. */
  cut(): void;
  /** Forwards nothing in either direction on the current and new connections, which stay open. */
  freeze(): void;
  restore(): void;
  /** Closes the connection of the next COMMIT: before the server receives it, or after the server has answered it. */
  loseNextCommit(moment: "before" | "after"): void;
  close(): Promise<void>;
}

/** The message of the protocol that executes COMMIT: its type, its length and the text. */
const COMMIT = Buffer.from("Q\0\0\0\u000bCOMMIT\0", "latin1");

export async function openFaultProxy(databaseUrl: string): Promise<FaultProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let state: "open" | "cut" | "frozen" = "open";
  let lossOfCommit: "before" | "after" | null = null;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const both = [client, upstream];
    const end = (): void => {
      for (const socket of both) socket.destroy();
    };
    let losesAnswer = false;
    const toServer = (chunk: Buffer): void => {
      if (state === "frozen") return;
      if (lossOfCommit && chunk.includes(COMMIT)) {
        const moment = lossOfCommit;
        lossOfCommit = null;
        if (moment === "before") {
          end();
          return;
        }
        losesAnswer = true;
      }
      upstream.write(chunk);
    };
    const toClient = (chunk: Buffer): void => {
      if (losesAnswer) end();
      else if (state !== "frozen") client.write(chunk);
    };
    for (const socket of both) {
      sockets.add(socket);
      // An error is followed by the end.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on("data", toServer);
    upstream.on("data", toClient);
    if (state === "cut") end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);

  const closeSockets = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut() {
      state = "cut";
      closeSockets();
    },
    freeze() {
      state = "frozen";
    },
    restore() {
      // The parts that were not forwarded are lost, so the connections are useless.
      if (state === "frozen") closeSockets();
      state = "open";
    },
    loseNextCommit(moment) {
      lossOfCommit = moment;
    },
    async close() {
      server.close();
      closeSockets();
      await once(server, "close");
    },
  };
}
