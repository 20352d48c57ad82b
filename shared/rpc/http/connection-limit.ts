import type { Server } from "node:http";
import type { Socket } from "node:net";
import { isLoopback, networkOf } from "../../protocol/addresses.ts";

/** The largest number of open connections of one remote network: enough for a class behind one address, below the open files of a process. */
const MAX_PER_NETWORK = 500;

/**
 * Closes new connections of a remote network beyond the limit, so that one network cannot use up the open files of the process. `isUnlimited` is true
 * for addresses whose connections have many callers: proxies and other servers of the service.
 */
export function limitConnections(server: Server, isUnlimited: (address: string) => boolean): void {
  const openConnections = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    if (isLoopback(remoteAddress) || isUnlimited(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = openConnections.get(network) ?? 0;
    if (count >= MAX_PER_NETWORK) {
      socket.destroy();
      return;
    }
    openConnections.set(network, count + 1);
    socket.once("close", () => {
      const remaining = (openConnections.get(network) ?? 1) - 1;
      if (remaining === 0) openConnections.delete(network);
      else openConnections.set(network, remaining);
    });
  });
}
