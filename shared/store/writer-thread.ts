import { parentPort, workerData } from "node:worker_threads";
import { openAgain } from "./sqlite.ts";
import { groupCommit, type Unit } from "./writer.ts";

/** The thread of `threadWriter`. It commits each group that it receives and answers with the outcomes. */
const commit = groupCommit(openAgain(workerData as string));
parentPort?.on("message", (group: readonly Unit[]) => parentPort?.postMessage(commit(group)));
