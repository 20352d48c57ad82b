import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

/** A process that has not ended this long after SIGTERM is killed. A supervisor needs less time to end its agents. */
const KILL_AFTER_MS = 5_000;

/**
 * The watching thread. It is a separate thread because the main thread may be busy. The first ancestor is the parent of
 * this process, the second one the parent of that process.
 */
const WATCH = `
const { readFileSync } = require("node:fs");
const { workerData: { ancestors: [parent, grandparent], killAfterMs } } = require("node:worker_threads");
const parentOf = (pid) => {
  try {
    return Number(readFileSync("/proc/" + pid + "/stat", "utf8").split(") ").at(-1).split(" ")[1]);
  } catch {
    return null;
  }
};
const timer = setInterval(() => {
  if (process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent)) return;
  clearInterval(timer);
  process.kill(process.pid, "SIGTERM");
  setTimeout(() => process.kill(process.pid, "SIGKILL"), killAfterMs);
}, 1_000);
`;

/**
 * Ends this process when the npm that started it has ended. A signal to npm ends npm and perhaps its shell, but not
 * their child processes. A process that was started from a user's shell continues after the shell has ended, because
 * the shell may have started it in the background.
 */
export function endWithNpm(): void {
  const ancestors = process.connected ? null : ancestorsUpToNpm();
  if (ancestors !== null) watch(ancestors);
}

function watch(ancestors: readonly number[]): void {
  new Worker(WATCH, { eval: true, workerData: { ancestors, killAfterMs: KILL_AFTER_MS } }).unref();
}

/**
 * Returns the process ids from the parent of this process to npm, which may have a shell in between. Returns null if
 * npm has not started this process. The environment is not sufficient, because background processes of an npm script
 * inherit it.
 */
function ancestorsUpToNpm(): readonly number[] | null {
  const { env, ppid, platform } = process;
  if (env.npm_lifecycle_event === undefined) return null;
  if (platform !== "linux") return [ppid];
  try {
    if (isNpm(ppid)) return [ppid];
    const grandparent = Number(readFileSync(`/proc/${ppid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
    return isNpm(grandparent) ? [ppid, grandparent] : null;
  } catch {
    return null; // an ancestor has ended
  }
}

/** Returns whether a process is npm, which sets its title to its command line, or another package manager. */
function isNpm(pid: number): boolean {
  const [program = "", script = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  return /^np[mx]\b/.test(program) || /\/(npm|npx|npm-cli|npx-cli|pnpm|yarn)(\.c?js)?$/.test(script);
}
