import type { Server } from "node:http";
import type { Socket } from "node:net";
import { isLoopback, networkOf } from "../../protocol/addresses.ts";

/** Concurrent connections of one remote network: more than a class behind one address needs, fewer than the files that a process may open. */
const PER_NETWORK = 500;

/** Closes new connections beyond the limit, so that one network cannot use up the file descriptors of the process. */
export function limitConnections(server: Server): void {
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    if (isLoopback(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = open.get(network) ?? 0;
    if (count >= PER_NETWORK) {
      socket.destroy();
      return;
    }
    open.set(network, count + 1);
    socket.once("close", () => {
      const remaining = (open.get(network) ?? 1) - 1;
      if (remaining === 0) open.delete(network);
      else open.set(network, remaining);
    });
  });
}
