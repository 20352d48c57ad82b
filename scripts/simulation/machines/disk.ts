import type { AgentStore, Disk } from "#shared/runtime/files/disk.ts";
import { groupCommit, type Unit } from "#shared/store/group-commit.ts";
import { type Database, openSqlite } from "#shared/store/sqlite.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { ProcessClock } from "./clock.ts";

/** What the simulation decides about one commit. */
export type CommitFate = "written" | "lost in a crash" | "written before a crash" | "disk full";

interface DiskOptions {
  readonly fate: () => CommitFate;
  /** How long the next commit takes, ms. */
  readonly commitMs: () => number;
  /** Called after a commit, before the promises of its writers are resolved. */
  readonly onCommitted: (db: Database) => void;
  readonly onCrash: () => void;
}

/** The disk of one machine: databases in memory, which outlive its processes. What was not committed at a kill is lost. */
export interface MachineDisk {
  /** The disk as one process has it, until that ends. */
  of(clock: ProcessClock): Disk & { stop(): void; waiting(): number };
  databases(): ReadonlyMap<string, Database>;
  secrets(): ReadonlyMap<string, string>;
}

/** What SQLite throws when the disk takes no more. */
export class DiskFull extends Error {}

interface Waiting {
  readonly unit: Unit;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** `copied` are the secrets of the disk of which this one is a copy. */
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
    of(clock) {
      const taken = new Set<string>();
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
          if (taken.has(file)) return null;
          taken.add(file);
          return { release: () => void taken.delete(file) };
        },
        readSecret: (file) => secrets.get(file),
        writeSecret: (file, secret) => void secrets.set(file, secret),
        restrictToOwner: () => {},
        waiting: () => writers.reduce((sum, writer) => sum + writer.waiting(), 0),
        stop: () => {
          isStopped = true;
        },
      };
    },
  };
}

/** Commits what was handed in meanwhile as one group, each group after the one before. */
function writerOf(
  db: Database,
  clock: ProcessClock,
  { fate, commitMs, onCommitted, onCrash }: DiskOptions,
  isStopped: () => boolean,
  onBroken: (error: Error) => void,
): Writer & { waiting(): number } {
  const commitGroup = groupCommit(db);
  let waiting: Waiting[] = [];
  let isWriting = false;
  const idle: (() => void)[] = [];

  const write = (): void => {
    const group = waiting;
    waiting = [];
    const decided = fate();
    if (decided === "lost in a crash") {
      onCrash();
      return;
    }
    if (decided === "disk full") {
      const error = new DiskFull("database or disk is full");
      for (const { reject } of group) reject(error);
      onBroken(error);
      next();
      return;
    }
    const outcomes = commitGroup(group.map(({ unit }) => unit));
    onCommitted(db);
    if (decided === "written before a crash") {
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
    else for (const resolve of idle.splice(0)) resolve();
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
    close: () => (isWriting ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()),
  };
}
