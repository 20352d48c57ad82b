import { systemIds } from "../../lib/ids.ts";
import { createRandom } from "../../lib/rng.ts";
import { type HeldPort, holdPort } from "../../rpc/http/reserve-port.ts";
import { StartError } from "./exit.ts";

/** Ports are reserved from 20000 to 31999, below the ports of outgoing connections, in blocks of 200. */
const FIRST = 20_000;
const BLOCK = 200;
const BLOCKS = 60;
/**
 * Block n belongs to the process that listens on port 19940 + n. The system frees that port when the process ends in
 * any way.
 */
const FIRST_LOCK = FIRST - BLOCKS;
const HOST = "127.0.0.1";
/**
 * The number of times that one call reserves blocks. Programs that do not use this module may use ports of a reserved
 * block.
 */
const MAX_RESERVATIONS = 5;

/** The ports of the blocks that this process reserved last, and the next port to try. */
let reserved = { first: 0, next: 0, end: 0 };
let previousCall: Promise<unknown> = Promise.resolve();

/**
 * Returns `count` consecutive ports that are currently free on loopback. While this process runs, this function does
 * not return them to another process, and returns one of them again to this process only after all other ports of its
 * block. Throws a StartError if there are no such ports.
 */
export function freePorts(count: number): Promise<readonly number[]> {
  const found = previousCall.then(() => find(count));
  previousCall = found.catch(() => {});
  return found;
}

/** Returns one port, as `freePorts` does. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function find(count: number): Promise<readonly number[]> {
  for (let reservations = 0; ; reservations++) {
    const found = (await nextFree(count)) ?? (await nextFree(count));
    if (found) return found;
    if (reservations === MAX_RESERVATIONS) throw noneFree(count);
    reserved = await reserveBlocks(count);
  }
}

/**
 * Returns the next consecutive free ports of the reserved blocks. Returns null at the end of the blocks; the next call
 * begins at their first port.
 */
async function nextFree(count: number): Promise<readonly number[] | null> {
  while (reserved.end - reserved.next >= count) {
    const candidates = Array.from({ length: count }, (_, index) => reserved.next + index);
    const tested = await Promise.all(candidates.map(hold));
    await Promise.all(tested.map((port) => port?.release()));
    const lastInUse = tested.lastIndexOf(null);
    reserved.next += lastInUse < 0 ? count : lastInUse + 1;
    if (lastInUse < 0) return candidates;
  }
  reserved.next = reserved.first;
  return null;
}

/** Reserves consecutive blocks with at least `ports` ports until this process ends. */
async function reserveBlocks(ports: number): Promise<typeof reserved> {
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
  new StartError(`no ${count} consecutive free ports between ${FIRST} and ${FIRST + BLOCKS * BLOCK}`);

const hold = (port: number): Promise<HeldPort | null> => holdPort(port, HOST);
