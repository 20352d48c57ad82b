import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { StartError } from "./exit.ts";

/** Ports are given from 20000 to 31999, below those that systems give to outgoing connections, in blocks of 200. */
const FIRST = 20_000;
const BLOCK = 200;
const BLOCKS = 60;
/** Block n belongs to the process that listens on port 19940 + n: the system frees it when the process ends, however it ends. */
const FIRST_LOCK = FIRST - BLOCKS;
const HOST = "127.0.0.1";

/** What is left of the blocks that this process took last, and the locks of all that it has taken. */
let own = { first: 0, next: 0, end: 0 };
let waiting: Promise<unknown> = Promise.resolve();

/**
 * So many ports in a row that are free now on loopback. No other process that calls this is given one of them while this one runs, and this one
 * gives a port again only when it went through all its others. StartError when there are none.
 */
export function freePorts(count: number): Promise<readonly number[]> {
  const found = waiting.then(() => find(count));
  waiting = found.catch(() => {});
  return found;
}

/** One such port. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function find(count: number): Promise<readonly number[]> {
  for (let attempt = 0; attempt < BLOCK; attempt++) {
    if (own.end - own.first < count) own = await takeBlocks(count);
    if (own.end - own.next < count) own.next = own.first;
    const wanted = Array.from({ length: count }, (_, index) => own.next + index);
    const servers = await Promise.all(wanted.map(listenOn));
    await Promise.all(servers.map((server) => server && closed(server)));
    own.next += 1 + servers.lastIndexOf(null);
    if (servers.every(Boolean)) {
      own.next += count;
      return wanted;
    }
  }
  throw noneFree(count);
}

/** Takes blocks in a row that no other process has, enough for so many ports. */
async function takeBlocks(ports: number): Promise<typeof own> {
  const count = Math.ceil(ports / BLOCK);
  const begin = Math.floor(Math.random() * BLOCKS);
  for (let tried = 0; tried < BLOCKS; tried++) {
    const block = (begin + tried) % BLOCKS;
    if (block + count > BLOCKS) continue;
    const locks = await Promise.all(Array.from({ length: count }, (_, index) => listenOn(FIRST_LOCK + block + index)));
    if (locks.every(Boolean)) {
      for (const lock of locks) lock?.unref();
      const first = FIRST + block * BLOCK;
      return { first, next: first, end: first + count * BLOCK };
    }
    await Promise.all(locks.map((lock) => lock && closed(lock)));
  }
  throw noneFree(ports);
}

const noneFree = (count: number): StartError =>
  new StartError(`no ${count} free ports in a row between ${FIRST} and ${FIRST + BLOCKS * BLOCK}`);

/** Null when somebody else listens there. */
async function listenOn(port: number): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen(port, HOST), "listening");
    return server;
  } catch {
    return null;
  }
}

const closed = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));
