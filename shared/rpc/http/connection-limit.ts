import type { Server } from "node:http";
import type { Socket } from "node:net";
import { isLoopback, networkOf } from "../../protocol/addresses.ts";

/** Connections of one remote network at once: more than a class behind one address needs, less than the files that a process may open. */
const PER_NETWORK = 500;

/** Closes connections beyond the limit as they come, so that one network cannot take the files that others' connections need. */
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
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
}
