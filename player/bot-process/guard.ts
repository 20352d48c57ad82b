import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import v8 from "node:v8";
import { Worker } from "node:worker_threads";
import { type FromBotProcess, PIPES } from "./messages.ts";

const OVER_MEMORY: FromBotProcess = { type: "over_memory" };

/**
 * The watching thread. It is a separate thread because the code of the bot may block the main thread. It ends the process when the
 * player has ended, and when the process uses too much memory. The message about it begins with a line break, because the main
 * thread may be writing a message.
 */
const WATCH = `
const { writeSync } = require("node:fs");
const { workerData: { player, memoryMb, pipe, message } } = require("node:worker_threads");
setInterval(() => {
  const usedMb = process.memoryUsage.rss() / 2 ** 20;
  if (usedMb > memoryMb) writeSync(pipe, message);
  else if (process.ppid === player) return;
  process.kill(process.pid, "SIGKILL");
}, 50);
`;

/**
 * Functions that Node's permissions do not forbid. They send signals to other processes, change their priority, and let
 * V8 write files (`--trace-turbo`).
 */
const FORBIDDEN: readonly (readonly [string, object, readonly string[]])[] = [
  ["process", process, ["kill", "_kill", "_debugProcess"]],
  ["os", os, ["setPriority"]],
  ["v8", v8, ["setFlagsFromString"]],
];

/**
 * Starts the watching thread. Afterwards this process can start no other thread, because Node's permissions do not apply
 * to other threads, and it cannot call the forbidden functions. If it may not use the network, `fetch` says so.
 */
export async function guardProcess(memoryMb: number): Promise<void> {
  const message = `\n${JSON.stringify(OVER_MEMORY)}\n`;
  const workerData = { player: process.ppid, memoryMb, pipe: PIPES.toPlayer, message };
  const watch = new Worker(WATCH, { eval: true, workerData });
  await once(watch, "online");
  watch.unref();
  process.permission.drop("worker");
  for (const [module, object, names] of FORBIDDEN) {
    for (const name of names) {
      const resource = `${module}.${name}`;
      const value = (): never => {
        throw accessDenied("Function", resource);
      };
      Object.defineProperty(object, name, { value });
    }
  }
  syncBuiltinESMExports();
  if (process.permission.has("net")) return;
  // The error of Node's fetch has no position in the code of the bot.
  globalThis.fetch = async () => {
    throw accessDenied("Net", "fetch");
  };
}

/** Returns an error like those of Node's permissions. */
const accessDenied = (permission: string, resource: string): Error =>
  Object.assign(new Error(`a bot may not call ${resource}`), { code: "ERR_ACCESS_DENIED", permission, resource });
