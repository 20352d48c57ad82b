import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** getconf CLK_TCK of every Linux that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000;
const STOP_MS = 5_000;

/** A process that is measured: it told over IPC that it is ready, and ends with its parent. */
export interface Measured {
  readonly pid: number;
  /** Where it listens; empty for one that does not. */
  readonly urls: readonly string[];
  /** Sends a question and resolves with the next message. */
  ask<T>(question: unknown): Promise<T>;
  /** Asks it to end, then kills it. */
  stop(): Promise<void>;
}

const children = new Set<ChildProcess>();
/** Process groups of commands that start processes of their own. */
const groups = new Set<number>();
const folders = new Set<string>();

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const group of groups) killGroup(group);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));

/** A folder that is gone when this process is. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "league-bench-"));
  folders.add(folder);
  return folder;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

interface LaunchOptions {
  /** Ready messages to wait for: one for each endpoint of the process. */
  readonly endpoints?: number;
  readonly nodeArgs?: readonly string[];
}

/** Starts a script of the project and waits until it is ready. */
export async function launch(
  script: string,
  args: readonly string[],
  { endpoints = 1, nodeArgs = [] }: LaunchOptions = {},
): Promise<Measured> {
  const child = spawn(process.execPath, [...nodeArgs, `${ROOT}${script}`, ...args], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  children.add(child);
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  const died = new Promise<never>((_, reject) => {
    child.once("exit", (code, signal) => {
      children.delete(child);
      reject(new Error(`${script} ended (${signal ?? code}): ${errors}`));
    });
  });
  died.catch(() => {});
  const urls: string[] = [];
  const ready = new Promise<void>((resolve) => {
    child.on("message", (message: { type?: string; url?: string }) => {
      if (message.type === "ready") urls.push(message.url ?? "");
      if (urls.length === endpoints) resolve();
    });
  });
  await Promise.race([ready, died]);
  return {
    pid: child.pid ?? 0,
    urls,
    ask: <T>(question: unknown) => {
      const answer = new Promise<T>((resolve) => child.once("message", resolve));
      child.send(question as object);
      return Promise.race([answer, died]);
    },
    async stop() {
      if (!children.has(child)) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      const kill = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** Runs a command that starts processes of its own. `isWatched` polls for the most memory they held, which costs them time. */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  isWatched: boolean,
): Promise<{ ms: number; peakMb: number; processes: number }> {
  const begun = performance.now();
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "ignore", "inherit"], detached: true });
  const pid = child.pid ?? 0;
  groups.add(pid);
  children.add(child);
  const peaks = new Map<number, number>();
  const watch = (): void => {
    for (const one of descendants(pid)) peaks.set(one, Math.max(peaks.get(one) ?? 0, peakKb(one)));
  };
  const poll = isWatched ? setInterval(watch, 20) : undefined;
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  const ms = performance.now() - begun;
  clearInterval(poll);
  children.delete(child);
  groups.delete(pid);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}`);
  return { ms, peakMb: [...peaks.values()].reduce((sum, kb) => sum + kb, 0) / 1024, processes: peaks.size };
}

/** A process and all below it. */
function descendants(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? fieldsOf(Number(name)) : null;
    if (stat) parents.set(Number(name), Number(stat[1]));
  }
  const found = new Set([pid]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child);
  }
  return [...found];
}

/** The fields of /proc/PID/stat behind the name: state, parent, …; null when the process has gone. */
function fieldsOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** The peak memory of a process so far; 0 when it has ended. */
export function peakKb(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Microseconds for which the processors of this machine were busy, whoever had them. */
function machineBusy(): number {
  const line = readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "";
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  return (ticks.reduce((sum, one) => sum + one, 0) - idle) * MICROSECONDS_PER_TICK;
}

/** Microseconds of processor time, user and system, that a process has used. */
export function cpuOf(pid: number): number {
  const fields = fieldsOf(pid);
  return (Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0)) * MICROSECONDS_PER_TICK;
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What was done in a window of time, and what it cost. */
export interface Rate {
  readonly perSecond: number;
  /** Microseconds of processor time for each, by group of processes. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly cpuTotal: number;
  /** The share of the machine that went to neither the measured processes nor this one: what the rate lost to strangers. */
  readonly others: number;
}

/** Counts over a window: `count` reads a running total, `groups` names the processes that work for it. */
export async function measure(
  windowMs: number,
  count: () => number | Promise<number>,
  processes: Readonly<Record<string, readonly Measured[]>>,
): Promise<Rate> {
  const cpu = (): number[] => Object.values(processes).map((all) => all.reduce((sum, { pid }) => sum + cpuOf(pid), 0));
  const [from, cpuFrom, busyFrom, selfFrom, begun] = [
    await count(),
    cpu(),
    machineBusy(),
    cpuOf(process.pid),
    performance.now(),
  ];
  await sleep(windowMs);
  const [to, cpuTo, busyTo, selfTo, ended] = [
    await count(),
    cpu(),
    machineBusy(),
    cpuOf(process.pid),
    performance.now(),
  ];
  const ours = cpuTo.reduce((sum, one, index) => sum + one - (cpuFrom[index] ?? 0), 0) + selfTo - selfFrom;
  const capacity = (ended - begun) * 1_000 * availableParallelism();
  const done = Math.max(1, to - from);
  const each = cpuTo.map((value, index) => (value - (cpuFrom[index] ?? 0)) / done);
  return {
    perSecond: (done / (ended - begun)) * 1_000,
    cpu: Object.fromEntries(Object.keys(processes).map((name, index) => [name, each[index] ?? 0])),
    cpuTotal: each.reduce((sum, one) => sum + one, 0),
    others: Math.max(0, (busyTo - busyFrom - ours) / capacity),
  };
}
