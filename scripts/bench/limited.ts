import { fork } from "node:child_process";

/** How a measurement has ended. */
type Taken<T> = { readonly ok: true; readonly figures: T } | { readonly ok: false; readonly fault: string };

/** The time in which a process that has received SIGTERM ends its own processes. */
const STOP_MS = 10_000;

type Message = { readonly step?: string; readonly fault?: string; readonly figures?: unknown };

/**
 * Takes a measurement in a separate process, so that the other figures are not lost if it hangs or crashes. After `limitMs` the process is asked to end, and it ends
 * the processes that it has started.
 */
export async function takeLimited<T>(
  script: string,
  args: readonly string[],
  limitMs: number,
  log: (step: string) => void,
): Promise<Taken<T>> {
  const child = fork(script, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  let taken: Taken<T> | null = null;
  let lastStep = "";
  child.on("message", ({ step, fault, figures }: Message) => {
    if (step !== undefined) {
      lastStep = step;
      log(step);
    } else taken = fault === undefined ? { ok: true, figures: figures as T } : { ok: false, fault };
  });
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(`its process has ended (${signal ?? `code ${code}`})`));
  });
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    child.kill("SIGTERM");
  }, limitMs);
  const kill = setTimeout(() => child.kill("SIGKILL"), limitMs + STOP_MS);
  const end = await ended;
  clearTimeout(limit);
  clearTimeout(kill);
  if (taken !== null) return taken;
  const late = `no figures within ${limitMs / 1_000} s${lastStep === "" ? "" : ` (last step: ${lastStep})`}`;
  return { ok: false, fault: isLate ? late : end };
}
