import { Worker } from "node:worker_threads";

/** Runs on a thread of its own, whatever the main one is busy with. */
const WATCH = `
const { workerData } = require("node:worker_threads");
setInterval(() => process.ppid === workerData || process.kill(process.pid, "SIGKILL"), 1_000);
`;

/** Ends this process when its parent has gone, even while foreign code holds the main thread and no event reaches it. */
export function endWithParent(): void {
  if (process.connected) new Worker(WATCH, { eval: true, workerData: process.ppid }).unref();
}
