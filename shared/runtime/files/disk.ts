import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { type Database, takeFile } from "../../store/sqlite.ts";
import { localWriter, threadWriter, type Writer } from "../../store/writer.ts";
import { fileFault, StartError } from "../process/exit.ts";
import { openLockedStore } from "./locked-store.ts";

/** A database that an agent has opened for itself alone: read by `db`, written by `writer`. */
export interface AgentStore {
  readonly db: Database;
  readonly writer: Writer;
  /** Resolves when every commit is settled and the database is closed. */
  close(): Promise<void>;
}

interface StoreOptions {
  /** Commits are written by a separate thread, so that the agent does not wait for the disk. */
  readonly isWrittenByThread: boolean;
  /**
   * Called when the file can no longer be written, and with a StoreLost when it was deleted or replaced. The agent cannot continue. It may be
   * called several times.
   */
  readonly onBroken: (error: Error) => void;
}

/** The files of an agent. They are an argument, so that a simulation can keep them in memory, lose them and fill the disk. */
export interface Disk {
  /** Opens a database for this agent alone until it is closed. A StartError says why it cannot be opened. */
  openStore(file: string, schema: string, options: StoreOptions): AgentStore;
  /** Takes a file for this agent alone, until it is released or the agent ends; null when another agent has it. */
  take(file: string): { release(): void } | null;
  /** The secret in a file; undefined when there is none. StartError when the file cannot be read. */
  readSecret(file: string): string | undefined;
  /** Keeps a secret in a file that only its owner may read. */
  writeSecret(file: string, secret: string): void;
  /** Lets only its owner read a file that exists, which another program may have made. */
  restrictToOwner(file: string): void;
}

/** The disk of this machine. */
export const systemDisk = (clock: Clock): Disk => ({
  openStore(file, schema, { isWrittenByThread, onBroken }) {
    const own = openLockedStore(file, schema, clock, onBroken);
    const writer = isWrittenByThread ? threadWriter(file, onBroken, clock) : localWriter(own.db, clock, onBroken);
    return {
      db: own.db,
      writer,
      async close() {
        await writer.close();
        own.close();
      },
    };
  },
  take: takeFile,
  readSecret,
  writeSecret(file, secret) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  },
  restrictToOwner: (file) => chmodSync(file, 0o600),
});

function readSecret(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (thrown) {
    // Node's error for reading a folder does not name the path. An agent may read its secret after it has begun to listen.
    const fault = Object.assign(thrown as Error, { path: file });
    throw new StartError(fileFault(fault) ?? fault.message);
  }
}
