import type { Cancel } from "#shared/lib/clock.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { type Database, openSqlite } from "#shared/store/sqlite.ts";
import { groupCommit, type Statement } from "#shared/store/writer.ts";
import type { Profile } from "../../agents/registered-agent.ts";
import type { JobChanges } from "../../match-queue.ts";
import { type LedgerStore, MANAGER_SCHEMA, managerStore } from "../../store/manager-store.ts";
import type { LaterCommits, Member, NewCommit } from "../run-database.ts";
import { ModelJobs, type ModelTime } from "./model-jobs.ts";

/** One of the connections of a manager, as the server sees it. */
export interface ServerSide {
  /** Called when the server ends the transaction of the connection, e.g. because the server is stopped. */
  onAborted(): void;
  onCommits(): void;
  onSignal(text: string): void;
}

/** A transaction that waits for the lock of the run or has it. */
export interface ModelTransaction {
  readonly client: ServerSide;
  isOpen: boolean;
  /** Whether the server has begun to commit it. It ends then even if the connection is lost. */
  isCommitting: boolean;
  readonly onLock: () => void;
  cancelTimer: Cancel;
}

/** A transaction that waits this long for its client is ended, so that a stopped manager does not keep the lock. */
const IDLE_IN_TRANSACTION_MS = 2_000;
const MEMBER_MS = 5_000;

const COMMITS_SCHEMA = `
  CREATE TABLE commits (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, at TEXT NOT NULL, last_row INTEGER NOT NULL) STRICT;
  CREATE TABLE profile_changes (number INTEGER NOT NULL, agent_id TEXT NOT NULL) STRICT;
`;
const SELECT_NEWEST = "SELECT number FROM commits ORDER BY number DESC LIMIT 1";
const SELECT_EVENTS = `SELECT name AS stream, seq, type, body, prev_hash, hash FROM log JOIN streams ON number = stream
  WHERE log.rowid > coalesce((SELECT last_row FROM commits WHERE number = ?), 0) ORDER BY log.rowid`;
const SELECT_PROFILES = `SELECT DISTINCT agent_id AS agentId, display_name AS name, salt, endpoint, token_hash AS tokenHash
  FROM profile_changes LEFT JOIN profiles USING (agent_id) LEFT JOIN tokens USING (agent_id) WHERE number > ?`;
const INSERT_COMMIT = `INSERT INTO commits (number, id, at, last_row)
  VALUES (?, ?, ?, (SELECT coalesce(max(rowid), 0) FROM log))`;
const INSERT_CHANGE = "INSERT INTO profile_changes (number, agent_id) VALUES (?, ?)";

/**
 * A model of the database server that the managers of a run share: one SQLite database in memory, the lock of the run, the notifications, the managers
 * and the jobs. Commits are made in an instant; `ModelDatabase` adds the delays and the faults of connections.
 */
export class ModelServer {
  readonly db: Database = openSqlite(":memory:", MANAGER_SCHEMA + COMMITS_SCHEMA);
  readonly time: ModelTime;
  readonly store: LedgerStore;
  readonly jobs: ModelJobs;
  /** The jobs that commits have added and ended. */
  readonly jobChanges: JobChanges[] = [];
  readonly clients = new Set<ServerSide>();
  readonly #onCommitted: () => void;
  readonly #members = new Map<string, Member & { readonly seenAt: number }>();
  readonly #waiting: ModelTransaction[] = [];
  #holder: ModelTransaction | null = null;
  /** Statements that are written in the transaction of the next commit. */
  #alongside: readonly Statement[] = [];
  #isUp = true;

  constructor(time: ModelTime, onCommitted: () => void = () => {}) {
    this.time = time;
    this.jobs = new ModelJobs(time);
    this.#onCommitted = onCommitted;
    const commitGroup = groupCommit(this.db);
    const commit = async (unit: readonly Statement[]): Promise<void> => {
      const [failure] = commitGroup([[...unit, ...this.#alongside]]);
      if (failure) throw new Error(failure.message);
    };
    this.store = managerStore(this.db, { commit, close: async () => {} });
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Ends all transactions and refuses connections until `start`, as after a kill. */
  stop(): void {
    this.#isUp = false;
    for (const one of [...this.#waiting, ...(this.#holder ? [this.#holder] : [])]) one.isOpen = false;
    this.#waiting.length = 0;
    this.#holder = null;
    for (const client of [...this.clients]) client.onAborted();
  }

  start(): void {
    this.#isUp = true;
  }

  /** Puts a transaction in the queue for the lock of the run. */
  lock(transaction: ModelTransaction): void {
    this.#waiting.push(transaction);
    this.#next();
  }

  /** Ends a transaction. Its connection remains. */
  release(transaction: ModelTransaction): void {
    if (!transaction.isOpen) return;
    transaction.isOpen = false;
    transaction.cancelTimer();
    if (this.#holder === transaction) this.#holder = null;
    else this.#waiting.splice(this.#waiting.indexOf(transaction), 1);
    this.#next();
  }

  /** Ends the transactions of a connection that is lost. */
  abortOf(client: ServerSide): void {
    for (const one of [...this.#waiting, this.#holder]) {
      if (one?.client === client && !one.isCommitting) this.release(one);
    }
  }

  commitsAfter(after: number): LaterCommits {
    const number = Number(this.db.prepare(SELECT_NEWEST).get()?.number ?? 0);
    const rows = this.db.prepare(SELECT_PROFILES).all(after) as unknown as (Profile & { agentId: string })[];
    return {
      number,
      events: this.db.prepare(SELECT_EVENTS).all(after) as unknown as RecordedEvent[],
      profiles: new Map(rows.map(({ agentId, ...profile }) => [agentId, profile.name === null ? null : profile])),
    };
  }

  /** Makes a commit under the next number and notifies the other managers. Rejects if an append does not follow. */
  async commit({ id, at, appends, writes, jobs }: NewCommit, client: ServerSide): Promise<void> {
    const number = this.commitsAfter(Number.MAX_SAFE_INTEGER).number + 1;
    const agentIds = writes.flatMap((write) =>
      write.type === "profile" || write.type === "erase_profile" ? [write.agentId] : [],
    );
    this.#alongside = [
      { sql: INSERT_COMMIT, parameters: [number, id, at] },
      ...agentIds.map((agentId) => ({ sql: INSERT_CHANGE, parameters: [number, agentId] })),
    ];
    try {
      await this.store.commit(appends, writes, at);
    } finally {
      this.#alongside = [];
    }
    this.jobChanges.push(jobs);
    this.jobs.add(jobs.added);
    this.jobs.end(jobs.ended);
    this.#onCommitted();
    for (const other of this.clients) if (other !== client) other.onCommits();
  }

  hasCommit(id: string): boolean {
    return this.db.prepare("SELECT 1 FROM commits WHERE id = ?").get(id) !== undefined;
  }

  heartbeat(self: Member): readonly Member[] {
    const now = this.time.monotonic();
    this.#members.set(self.managerId, { ...self, seenAt: now });
    return [...this.#members.values()]
      .filter(({ seenAt }) => now - seenAt < MEMBER_MS)
      .map(({ managerId, url }) => ({ managerId, url }))
      .sort((a, b) => (a.managerId < b.managerId ? -1 : 1));
  }

  leave(managerId: string): void {
    this.#members.delete(managerId);
  }

  signal(text: string, client: ServerSide): void {
    for (const other of this.clients) if (other !== client) other.onSignal(text);
  }

  #next(): void {
    if (this.#holder) return;
    const next = this.#waiting.shift() ?? null;
    this.#holder = next;
    if (!next) return;
    next.cancelTimer = this.time.after(IDLE_IN_TRANSACTION_MS, () => this.release(next));
    next.onLock();
  }
}
