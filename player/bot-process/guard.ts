import dns from "node:dns";
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

type Functions = readonly (readonly [module: string, object: object, names: readonly string[]])[];

/**
 * Functions that Node's permissions do not forbid. They send signals to other processes, change their priority, let
 * V8 write files (`--trace-turbo`), and tell the name of the user.
 */
const FORBIDDEN: Functions = [
  ["process", process, ["kill", "_kill", "_debugProcess"]],
  ["os", os, ["setPriority", "userInfo"]],
  ["v8", v8, ["setFlagsFromString"]],
];

/** Functions that tell the addresses of this machine and of its name servers. A bot that may use the network can learn them by a connection. */
const FORBIDDEN_WITHOUT_NETWORK: Functions = [
  ["os", os, ["networkInterfaces"]],
  ["dns", dns, ["getServers", "Resolver"]],
  ["dns.promises", dns.promises, ["getServers", "Resolver"]],
];

/**
 * Starts the watching thread. Afterwards this process can start no other thread, because Node's permissions do not apply
 * to other threads, and it cannot call the forbidden functions or read the addresses of this machine. If it may not use the network, `fetch` says so.
 */
export async function guardProcess(memoryMb: number): Promise<void> {
  const message = `\n${JSON.stringify(OVER_MEMORY)}\n`;
  const workerData = { player: process.ppid, memoryMb, pipe: PIPES.toPlayer, message };
  const watch = new Worker(WATCH, { eval: true, workerData });
  await once(watch, "online");
  watch.unref();
  process.permission.drop("worker");
  const hasNetwork = process.permission.has("net");
  forbid(FORBIDDEN);
  if (!hasNetwork) forbid(FORBIDDEN_WITHOUT_NETWORK);
  // A report has the addresses of this machine. Libraries read `report` only if it is defined.
  Object.defineProperty(process, "report", { value: undefined });
  // Libraries for logs call `hostname` when they are loaded, so it is not forbidden.
  Object.defineProperty(os, "hostname", { value: () => "localhost" });
  syncBuiltinESMExports();
  if (hasNetwork) return;
  // The error of Node's fetch has no position in the code of the bot.
  globalThis.fetch = async () => {
    throw accessDenied("Net", "fetch");
  };
}

/** Replaces functions by ones that throw an error like those of Node's permissions. */
function forbid(functions: Functions): void {
  for (const [module, object, names] of functions) {
    for (const name of names) {
      const resource = `${module}.${name}`;
      // Not an arrow function, because `Resolver` is called with `new`.
      const value = function forbidden(): never {
        throw accessDenied("Function", resource);
      };
      Object.defineProperty(object, name, { value, configurable: false, writable: false });
    }
  }
}

/** Returns an error like those of Node's permissions. */
const accessDenied = (permission: string, resource: string): Error =>
  Object.assign(new Error(`a bot may not call ${resource}`), { code: "ERR_ACCESS_DENIED", permission, resource });
