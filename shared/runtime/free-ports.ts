import { createServer } from "node:net";
import { StartError } from "./exit.ts";

/** Below the ports that systems give to outgoing connections. */
const FIRST = 20_000;
const LAST = 32_000;
const ATTEMPTS = 100;

/** So many ports in a row that are free now on loopback; StartError when none are found. */
export async function freePorts(count: number): Promise<readonly number[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const base = FIRST + Math.floor(Math.random() * (LAST - FIRST - count));
    const wanted = Array.from({ length: count }, (_, index) => base + index);
    if ((await Promise.all(wanted.map(isFree))).every(Boolean)) return wanted;
  }
  throw new StartError(`no ${count} free ports in a row between ${FIRST} and ${LAST}`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
