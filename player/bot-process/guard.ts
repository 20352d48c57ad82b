import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * The watching thread. It is a separate thread because the code of the bot may block the main thread. It ends the process when the
 * player has ended, and when the process uses too much memory.
 */
const WATCH = `
const { writeSync } = require("node:fs");
const { workerData: { player, memoryMb } } = require("node:worker_threads");
setInterval(() => {
  const usedMb = process.memoryUsage.rss() / 2 ** 20;
  if (usedMb > memoryMb) writeSync(2, "the bot uses more than " + memoryMb + " MB of memory; its process is ended\\n");
  else if (process.ppid === player) return;
  process.kill(process.pid, "SIGKILL");
}, 50);
`;

/**
 * Starts the watching thread. Afterwards this process can start no other thread, and it can send no signals.
 * Node's permissions do not apply to other threads, and they do not forbid signals.
 */
export async function guardProcess(memoryMb: number): Promise<void> {
  const watch = new Worker(WATCH, { eval: true, workerData: { player: process.ppid, memoryMb } });
  await once(watch, "online");
  watch.unref();
  process.permission.drop("worker");
  const denied = (): never => {
    throw Object.assign(new Error("a bot may not send signals"), { code: "ERR_ACCESS_DENIED", permission: "Signal" });
  };
  Object.defineProperties(process, { kill: { value: denied }, _kill: { value: denied } });
}
