import { Worker } from "node:worker_threads";

const SLOW_LOAD_MS = 5_000;

/** Runs on a separate thread and writes to stderr directly, because an endless loop at the top level of a file blocks the main thread. */
const WATCH = `
const { writeSync } = require("node:fs");
const { workerData: { line, ms } } = require("node:worker_threads");
setTimeout(() => writeSync(2, line + "\\n"), ms);
`;

/** Loads a bot file. Names it on stderr after five seconds, because an endless loop gives no other sign of its file. */
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

/** Only SIGKILL ends a process whose main thread is blocked. A supervisor sends it without the user. */
const howToEnd = (): string =>
  process.connected ? "" : ` If Ctrl-C does not end this player, use: kill -9 ${process.pid}`;
