import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of the project, with a slash at its end. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STOP_MS = 5_000;

/** A child process that is measured. It has reported over IPC that it is ready, and it ends with its parent. */
export interface Measured {
  readonly pid: number;
  /** The URLs at which it listens; an empty text for an endpoint that does not listen. */
  readonly urls: readonly string[];
  /** Sends an IPC message and resolves with the next message of the process without a `type`: reports of agents have one. Rejects if the process ends. */
  ask<T>(question: unknown): Promise<T>;
  /** Sends SIGTERM, and SIGKILL after 5 seconds. Resolves when the process has ended. */
  stop(): Promise<void>;
}

const children = new Set<ChildProcess>();
/** The process groups of commands that start further processes. */
const groups = new Set<number>();
const folders = new Set<string>();

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const group of groups) killGroup(group);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));

/** Creates a temporary folder that is deleted when this process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "league-bench-"));
  folders.add(folder);
  return folder;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the group has ended
  }
}

interface LaunchOptions {
  /** The number of ready messages to wait for: one for each endpoint of the process. */
  readonly endpoints?: number;
  readonly nodeArgs?: readonly string[];
}

/** Starts a script of the project and resolves when it is ready. Rejects with its error output if it ends before that. */
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
  const exited = new Promise<never>((_, reject) => {
    child.once("exit", (code, signal) => {
      children.delete(child);
      reject(new Error(`${script} ended (${signal ?? code}): ${errors}`));
    });
  });
  exited.catch(() => {});
  const urls: string[] = [];
  const ready = new Promise<void>((resolve) => {
    child.on("message", (message: { type?: string; url?: string }) => {
      if (message.type === "ready") urls.push(message.url ?? "");
      if (urls.length === endpoints) resolve();
    });
  });
  await Promise.race([ready, exited]);
  return {
    pid: child.pid ?? 0,
    urls,
    ask: <T>(question: unknown) => {
      const answer = new Promise<T>((resolve) => {
        const onMessage = (message: { readonly type?: string }): void => {
          if (message.type !== undefined) return;
          child.off("message", onMessage);
          resolve(message as T);
        };
        child.on("message", onMessage);
      });
      child.send(question as object);
      return Promise.race([answer, exited]);
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

/**
 * Runs a command and the processes that it starts. Resolves with the duration; with `isWatched` also with the sum of the peak memory of all processes,
 * whose polling slows them down. Rejects if the exit code is not 0.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  isWatched: boolean,
): Promise<{ ms: number; peakMb: number; processes: number }> {
  const startedAt = performance.now();
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "ignore", "inherit"], detached: true });
  const pid = child.pid ?? 0;
  groups.add(pid);
  children.add(child);
  const peaks = new Map<number, number>();
  const watch = (): void => {
    for (const id of withDescendants(pid)) peaks.set(id, Math.max(peaks.get(id) ?? 0, peakKb(id)));
  };
  const poll = isWatched ? setInterval(watch, 20) : undefined;
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  const ms = performance.now() - startedAt;
  clearInterval(poll);
  children.delete(child);
  groups.delete(pid);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}`);
  return { ms, peakMb: [...peaks.values()].reduce((sum, kb) => sum + kb, 0) / 1024, processes: peaks.size };
}

/** Resolves after `ms` milliseconds. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The number of operations in a window of time, and their cost. */
export interface Rate {
  /** Operations per second. */
  readonly perSecond: number;
  /** Microseconds of processor time per operation, by group of processes. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Microseconds of processor time per operation of all groups. */
  readonly cpuTotal: number;
  /** The share of the machine's processor time that unrelated processes used. */
  readonly others: number;
}

/** Measures the rate of operations in a window of time. `count` returns the number of operations so far; `processes` are the groups of processes. */
export async function measure(
  windowMs: number,
  count: () => number | Promise<number>,
  processes: Readonly<Record<string, readonly Measured[]>>,
): Promise<Rate> {
  const cpu = (): number[] =>
    Object.values(processes).map((group) => group.reduce((sum, { pid }) => sum + cpuOf(pid), 0));
  const [from, cpuFrom, busyFrom, selfFrom, startedAt] = [
    await count(),
    cpu(),
    machineBusy(),
    cpuOf(process.pid),
    performance.now(),
  ];
  await sleep(windowMs);
  const [to, cpuTo, busyTo, selfTo, endedAt] = [
    await count(),
    cpu(),
    machineBusy(),
    cpuOf(process.pid),
    performance.now(),
  ];
  const measured = cpuTo.reduce((sum, cpu, index) => sum + cpu - (cpuFrom[index] ?? 0), 0) + selfTo - selfFrom;
  const capacity = (endedAt - startedAt) * 1_000 * availableParallelism();
  const operations = Math.max(1, to - from);
  const cpuEach = cpuTo.map((value, index) => (value - (cpuFrom[index] ?? 0)) / operations);
  return {
    perSecond: (operations / (endedAt - startedAt)) * 1_000,
    cpu: Object.fromEntries(Object.keys(processes).map((name, index) => [name, cpuEach[index] ?? 0])),
    cpuTotal: cpuEach.reduce((sum, cpu) => sum + cpu, 0),
    others: Math.max(0, (busyTo - busyFrom - measured) / capacity),
  };
}

/** The reciprocal of `getconf CLK_TCK`, which is 100 on every Linux that Node.js supports. */
const MICROSECONDS_PER_TICK = 10_000;

/** A process of this machine, from /proc. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** The time of its start. With the id, it identifies a process: the system uses ids again. */
  readonly startedAt: string;
  /** Microseconds of processor time, user and system, of the process. */
  readonly cpu: number;
  /** Microseconds of processor time of its children that have ended, and of their children. */
  readonly cpuOfEnded: number;
}

/** Returns all processes of this machine by id. */
export function processTable(): ReadonlyMap<number, ProcessEntry> {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return new Map(
    ids.flatMap((name) => {
      const entry = entryOf(Number(name));
      return entry === null ? [] : [[entry.pid, entry]];
    }),
  );
}

/** Returns a process; null if it does not exist. */
function entryOf(pid: number): ProcessEntry | null {
  const fields = fieldsOf(pid);
  if (fields === null) return null;
  const cpu = (first: number): number => (Number(fields[first]) + Number(fields[first + 1])) * MICROSECONDS_PER_TICK;
  return { pid, parent: Number(fields[1]), startedAt: fields[19] ?? "", cpu: cpu(11), cpuOfEnded: cpu(13) };
}

/** Returns the ids of a process and of all its descendants. */
export function withDescendants(pid: number, processes = processTable()): readonly number[] {
  const found = new Set([pid]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const { pid: child, parent } of processes.values()) if (found.has(parent)) found.add(child);
  }
  return [...found];
}

/** Returns the fields of /proc/PID/stat after the name: state, parent, …; null if the process does not exist. */
function fieldsOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** Returns the peak resident memory of a process in kilobytes; 0 if the process does not exist. */
export const peakKb = (pid: number): number => statusKb(pid, "VmHWM");

/** Returns the current resident memory of a process in kilobytes; 0 if the process does not exist. */
export const residentKb = (pid: number): number => statusKb(pid, "VmRSS");

function statusKb(pid: number, field: string): number {
  try {
    return Number(new RegExp(`${field}:\\s*(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the microseconds for which the processors of this machine were busy since its start. */
function machineBusy(): number {
  const line = readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "";
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  return (ticks.reduce((sum, count) => sum + count, 0) - idle) * MICROSECONDS_PER_TICK;
}

/** Returns the microseconds of processor time, user and system, that a process has used. */
export const cpuOf = (pid: number): number => entryOf(pid)?.cpu ?? 0;

/** Returns the processes that a process has started. */
export const childrenOf = (pid: number): readonly number[] =>
  [...processTable().values()].flatMap((entry) => (entry.parent === pid ? [entry.pid] : []));

/** Returns the median; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : (high + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
