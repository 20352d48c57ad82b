import { Worker } from "node:worker_threads";

const SLOW_LOAD_MS = 5_000;

/** Runs on a separate thread, and writes to stderr itself: a loop at the top level of a file holds the main thread. */
const WATCH = `
const { writeSync } = require("node:fs");
const { workerData: { line, ms } } = require("node:worker_threads");
setTimeout(() => writeSync(2, line + "\\n"), ms);
`;

/** Loads a file of a user. Names it on stderr if that takes long, because nothing else tells which file holds up the player. */
export async function watchingLoad<T>(name: string, load: () => Promise<T>): Promise<T> {
  const line = `${name} does not finish loading: does the code at its top level end?${howToEnd()}`;
  const watch = new Worker(WATCH, { eval: true, workerData: { line, ms: SLOW_LOAD_MS } });
  watch.unref();
  try {
    return await load();
  } finally {
    await watch.terminate();
  }
}

/** No signal but SIGKILL ends a process whose main thread is held. Under a supervisor the user need not send it. */
const howToEnd = (): string =>
  process.connected ? "" : ` If Ctrl-C does not end this player, use: kill -9 ${process.pid}`;
