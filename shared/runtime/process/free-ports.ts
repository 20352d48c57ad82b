import { systemIds } from "../../lib/ids.ts";
import { createRandom } from "../../lib/rng.ts";
import { type HeldPort, holdPort } from "../../rpc/http/hold-port.ts";
import { StartError } from "./exit.ts";

/** Ports are given from 20000 to 31999, below those that systems give to outgoing connections, in blocks of 200. */
const FIRST = 20_000;
const BLOCK = 200;
const BLOCKS = 60;
/** Block n belongs to the process that listens on port 19940 + n: the system frees it when the process ends, however it ends. */
const FIRST_LOCK = FIRST - BLOCKS;
const HOST = "127.0.0.1";
/** How often one call takes blocks: programs that do not ask here may use ports of the ones it has. */
const MAX_TAKEN = 5;

/** The ports of the blocks that this process took last, and the next one to try. */
let own = { first: 0, next: 0, end: 0 };
let waiting: Promise<unknown> = Promise.resolve();

/**
 * Returns `count` consecutive ports that are free on loopback now. While this process runs, no other process is given one of them by this function,
 * and this process is given a port again only after all others of its block. Throws a StartError when there are no such ports.
 */
export function freePorts(count: number): Promise<readonly number[]> {
  const found = waiting.then(() => find(count));
  waiting = found.catch(() => {});
  return found;
}

/** One port, as `freePorts` returns it. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function find(count: number): Promise<readonly number[]> {
  for (let taken = 0; ; taken++) {
    const found = (await nextFree(count)) ?? (await nextFree(count));
    if (found) return found;
    if (taken === MAX_TAKEN) throw noneFree(count);
    own = await takeBlocks(count);
  }
}

/** The next free ports in a row of the blocks that this process took last. Null at their end: the next call begins at their first port. */
async function nextFree(count: number): Promise<readonly number[] | null> {
  while (own.end - own.next >= count) {
    const wanted = Array.from({ length: count }, (_, index) => own.next + index);
    const held = await Promise.all(wanted.map(hold));
    await Promise.all(held.map((port) => port?.release()));
    const lastInUse = held.lastIndexOf(null);
    own.next += lastInUse < 0 ? count : lastInUse + 1;
    if (lastInUse < 0) return wanted;
  }
  own.next = own.first;
  return null;
}

/** Locks consecutive blocks with at least `ports` ports, until this process ends. */
async function takeBlocks(ports: number): Promise<typeof own> {
  const count = Math.ceil(ports / BLOCK);
  const begin = createRandom(systemIds.token()).int(0, BLOCKS - 1);
  for (let tried = 0; tried < BLOCKS; tried++) {
    const block = (begin + tried) % BLOCKS;
    if (block + count > BLOCKS) continue;
    const locks = await Promise.all(Array.from({ length: count }, (_, index) => hold(FIRST_LOCK + block + index)));
    if (locks.every(Boolean)) {
      for (const lock of locks) lock?.keep();
      const first = FIRST + block * BLOCK;
      return { first, next: first, end: first + count * BLOCK };
    }
    await Promise.all(locks.map((lock) => lock?.release()));
  }
  throw noneFree(ports);
}

const noneFree = (count: number): StartError =>
  new StartError(`no ${count} free ports in a row between ${FIRST} and ${FIRST + BLOCKS * BLOCK}`);

const hold = (port: number): Promise<HeldPort | null> => holdPort(port, HOST);
