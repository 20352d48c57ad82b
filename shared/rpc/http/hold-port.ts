import { once } from "node:events";
import { createServer } from "node:net";

/** A port that is in use and serves nothing. */
export interface HeldPort {
  /** Frees the port. */
  release(): Promise<void>;
  /** Keeps the port until the process ends, without keeping the process running. */
  keep(): void;
}

/** Occupies a port of an address. Resolves with null if the port is in use. */
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
