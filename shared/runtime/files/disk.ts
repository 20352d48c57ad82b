import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { type Database, lockFile } from "../../store/sqlite.ts";
import { localWriter, threadWriter, type Writer } from "../../store/writer.ts";
import { fileFault, StartError } from "../process/exit.ts";
import { openLockedStore } from "./locked-store.ts";

/** A database that an agent has locked and opened. `db` reads it, `writer` writes it. */
export interface AgentStore {
  readonly db: Database;
  readonly writer: Writer;
  /** Resolves when all commits are settled and the database is closed. */
  close(): Promise<void>;
}

interface StoreOptions {
  /** Whether a separate thread writes the commits, so that the agent does not wait for the disk. */
  readonly isWrittenByThread: boolean;
  /**
   * Called if the file can no longer be written, and with a StoreLost if it was deleted or replaced. The agent cannot
   * continue. May be called several times.
   */
  readonly onBroken: (error: Error) => void;
}

/** The files of an agent. A simulation passes a disk in memory, which can lose files and run out of space. */
export interface Disk {
  /** Opens a database and locks it until it is closed. Throws a StartError if it cannot be opened. */
  openStore(file: string, schema: string, options: StoreOptions): AgentStore;
  /** Locks a file until it is released or the agent ends. Returns null if another agent has locked it. */
  lock(file: string): { release(): void } | null;
  /** Returns the secret in a file; undefined if the file does not exist. Throws a StartError if it cannot be read. */
  readSecret(file: string): string | undefined;
  /** Writes a secret to a file that only its owner may read. */
  writeSecret(file: string, secret: string): void;
  /** Restricts an existing file, which another program may have created, to its owner. */
  restrictToOwner(file: string): void;
  /** Adds a line to a text file that only its owner may read. Creates the file and its folder if they are missing. */
  addLine(file: string, line: string): void;
}

/** The disk of this machine. */
export const systemDisk = (clock: Clock): Disk => ({
  openStore(file, schema, { isWrittenByThread, onBroken }) {
    const store = openLockedStore(file, schema, clock, onBroken);
    const onFailure = (error: Error): void => onBroken(store.causeOf(error));
    const writer = isWrittenByThread ? threadWriter(file, onFailure, clock) : localWriter(store.db, clock, onFailure);
    return {
      db: store.db,
      writer,
      async close() {
        await writer.close();
        store.close();
      },
    };
  },
  lock: (file) => lockFile(file),
  readSecret,
  writeSecret(file, secret) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  },
  restrictToOwner: (file) => chmodSync(file, 0o600),
  addLine(file, line) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    appendFileSync(file, `${line}\n`, { mode: 0o600 });
  },
});

function readSecret(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (thrown) {
    // Node's error about reading a folder does not contain the path. It is a StartError because a secret may be read
    // after the start, when other errors are printed with a stack trace.
    const fault = Object.assign(thrown as Error, { path: file });
    throw new StartError(fileFault(fault) ?? fault.message);
  }
}
