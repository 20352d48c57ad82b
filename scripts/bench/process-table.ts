import { readdirSync, readFileSync } from "node:fs";

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
export function machineBusy(): number {
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
