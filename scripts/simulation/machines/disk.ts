import type { AgentStore, Disk } from "#shared/runtime/files/disk.ts";
import { type Database, openSqlite } from "#shared/store/sqlite.ts";
import { StoreUnwritable } from "#shared/store/store-errors.ts";
import { groupCommit, type Unit, type Writer } from "#shared/store/writer.ts";
import type { ProcessClock } from "./clock.ts";

/** The outcome of one commit. */
export type CommitFate = "written" | "lost in a crash" | "written before a crash" | "disk full";

interface DiskOptions {
  readonly fate: () => CommitFate;
  /** Returns the duration of the next commit. */
  readonly commitMs: () => number;
  /** Called after a commit, before the promises of its writers are resolved. */
  readonly onCommitted: (db: Database) => void;
  readonly onCrash: () => void;
}

/** The disk of one machine: databases in memory, which remain after the end of a process. A kill loses changes that are not committed. */
export interface MachineDisk {
  /** Returns the disk for one process. After `stop` nothing is written. `waiting` returns the number of pending commits. */
  forProcess(clock: ProcessClock): Disk & { stop(): void; waiting(): number };
  databases(): ReadonlyMap<string, Database>;
  secrets(): ReadonlyMap<string, string>;
}

/** The error of SQLite on a full disk. */
export class DiskFull extends Error {
  readonly errcode = 13;
}

interface PendingCommit {
  readonly unit: Unit;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** Creates the disk of a machine. `copied` are secrets that it contains initially. */
export function createDisk(options: DiskOptions, copied: ReadonlyMap<string, string> = new Map()): MachineDisk {
  const databases = new Map<string, Database>();
  const secrets = new Map(copied);
  const open = (file: string, schema: string): Database => {
    const db = databases.get(file) ?? openSqlite(":memory:", schema);
    databases.set(file, db);
    return db;
  };
  return {
    databases: () => databases,
    secrets: () => secrets,
    forProcess(clock) {
      const lockedFiles = new Set<string>();
      const writers: (Writer & { waiting(): number })[] = [];
      let isStopped = false;
      return {
        openStore(file, schema, { isWrittenByThread, onBroken }): AgentStore {
          const db = open(file, schema);
          const writer = writerOf(db, clock, options, () => isStopped, isWrittenByThread ? () => {} : onBroken);
          writers.push(writer);
          return { db, writer, close: () => writer.close() };
        },
        lock(file) {
          if (lockedFiles.has(file)) return null;
          lockedFiles.add(file);
          return { release: () => void lockedFiles.delete(file) };
        },
        readSecret: (file) => secrets.get(file),
        writeSecret: (file, secret) => void secrets.set(file, secret),
        restrictToOwner: () => {},
        addLine: () => {},
        waiting: () => writers.reduce((sum, writer) => sum + writer.waiting(), 0),
        stop: () => {
          isStopped = true;
        },
      };
    },
  };
}

/** Creates a writer that commits in groups. Units that arrive during a commit form the next group. */
function writerOf(
  db: Database,
  clock: ProcessClock,
  { fate, commitMs, onCommitted, onCrash }: DiskOptions,
  isStopped: () => boolean,
  onBroken: (error: Error) => void,
): Writer & { waiting(): number } {
  const commitGroup = groupCommit(db);
  let waiting: PendingCommit[] = [];
  let isWriting = false;
  const idleListeners: (() => void)[] = [];

  const write = (): void => {
    const group = waiting;
    waiting = [];
    const outcome = fate();
    if (outcome === "lost in a crash") {
      onCrash();
      return;
    }
    if (outcome === "disk full") {
      for (const { reject } of group) reject(new StoreUnwritable("the disk is full"));
      onBroken(new DiskFull("database or disk is full"));
      next();
      return;
    }
    const outcomes = commitGroup(group.map(({ unit }) => unit));
    onCommitted(db);
    if (outcome === "written before a crash") {
      onCrash();
      return;
    }
    group.forEach(({ resolve, reject }, index) => {
      const failure = outcomes[index];
      if (failure) reject(new Error(failure.message));
      else resolve();
    });
    next();
  };
  const next = (): void => {
    isWriting = waiting.length > 0;
    if (isWriting) clock.after(commitMs(), write);
    else for (const resolve of idleListeners.splice(0)) resolve();
  };

  return {
    commit: (unit) =>
      new Promise((resolve, reject) => {
        if (isStopped()) return;
        waiting.push({ unit, resolve, reject });
        if (isWriting) return;
        isWriting = true;
        clock.after(commitMs(), write);
      }),
    waiting: () => waiting.length,
    close: () => (isWriting ? new Promise((resolve) => idleListeners.push(resolve)) : Promise.resolve()),
  };
}
