import { once } from "node:events";
import { createServer } from "node:net";

/** A port on which this process listens only to reserve it. Connections are closed immediately. */
export interface HeldPort {
  /** Frees the port. */
  release(): Promise<void>;
  /** Keeps the port reserved until the process ends, without keeping the process alive. */
  keep(): void;
}

/** Reserves a port of an address. Resolves with null if it cannot listen there. */
export async function holdPort(port: number, host: string): Promise<HeldPort | null> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen(port, host), "listening");
  } catch {
    return null;
  }
  return {
    release: () => new Promise((resolve) => server.close(() => resolve())),
    keep: () => void server.unref(),
  };
}
