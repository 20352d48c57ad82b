import type { Pool } from "pg";
import type { Clock } from "#shared/lib/clock.ts";
import type { RecordedEvent, StreamAppend } from "#shared/store/event-log.ts";
import { inTransaction } from "#shared/store/postgres/connection.ts";
import {
  chainAppends,
  EMPTY_HEAD,
  insertEvents,
  jsonTexts,
  type PostgresStatement,
  readCommits,
  readHeads,
  type StreamHead,
} from "#shared/store/postgres/log-statements.ts";
import type { Profile } from "../agents/registered-agent.ts";
import type { Write } from "../ledger.ts";
import type { MatchQueue } from "../match-queue.ts";
import type { LaterCommits, NewCommit, RunDatabase } from "../shared-run/run-database.ts";
import { type RunTransaction, runError, transactionOn, withReadErrors } from "./run-transaction.ts";

/** The advisory lock of the run. Only one manager at a time decides and commits. */
export const RUN_LOCK = 7_211_002;

interface TransactionOptions {
  /** A pool of one connection: the transactions of one manager wait for each other here, not in the database. */
  readonly pool: Pool;
  readonly queue: JobWriter;
  /** Notifies the other managers when the transaction is committed. */
  readonly notify: (transaction: RunTransaction) => Promise<unknown>;
  /** Reads the commits after a commit without the lock. Rejects with DatabaseUnavailable. */
  readonly partsAfter: (after: number) => Promise<readonly CommitsPart[]>;
  /** The maximum number of commits that are read with the lock. */
  readonly maxCommits: number;
  readonly clock: Pick<Clock, "monotonic">;
}

/** The start of a league of a thousand players can take longer than the server lets a transaction wait. Its repetition has more time. */
const SLOW_DECISION_MS = 1_000;
const ALLOW_SLOW_DECISION = "SET LOCAL idle_in_transaction_session_timeout = '20s'";

/** Returns the operations that take the lock of the run. */
export function runTransactions(options: TransactionOptions): Pick<RunDatabase, "transact" | "hasCommit"> {
  const { pool } = options;
  const heads = new StreamHeads();
  const pace: Pace = { isSlow: false };
  const inTurn = turns();
  const hasCommit = (id: string): Promise<boolean> =>
    inLockedTransaction(pool, async (transaction) => {
      const { rows } = await transaction.query(SELECT_COMMIT, [id]);
      return rows.length > 0;
    });
  return {
    transact: (after, decide) => inTurn(() => transact(options, { heads, pace }, after, decide)),
    hasCommit: (id) => inTurn(() => withReadErrors(hasCommit(id))),
  };
}

/** Returns a function that calls operations one after the other. */
function turns(): <T>(operation: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (operation) => {
    const done = last.then(operation);
    last = done.catch(() => {});
    return done;
  };
}

/** The outcome of a transaction: a decision on all commits, or none because the manager was too far behind. */
type TransactionResult =
  | { readonly isBehind: true }
  | { readonly isBehind: false; readonly committed: Pick<LaterCommits, "number" | "events"> | null };

/** Whether the decision of the last transaction took longer than `SLOW_DECISION_MS` and was not committed. */
interface Pace {
  isSlow: boolean;
}

interface Memory {
  readonly heads: StreamHeads;
  readonly pace: Pace;
}

/** A manager that is far behind gives the lock back and reads the old commits without it, so that the other managers do not wait. */
async function transact(
  options: TransactionOptions,
  { heads, pace }: Memory,
  after: number,
  decide: (later: LaterCommits) => NewCommit | null,
): Promise<void> {
  const { pool, partsAfter, maxCommits, clock } = options;
  const parts: CommitsPart[] = [];
  const newest = (): number => parts.at(-1)?.number ?? after;
  let rejected: { readonly reason: unknown } | null = null;
  const decideOn = (later: LaterCommits): NewCommit | null => {
    try {
      return decide(later);
    } catch (reason) {
      rejected = { reason };
      throw reason;
    }
  };
  const decideAndAppend = async (transaction: RunTransaction): Promise<TransactionResult> => {
    if (pace.isSlow) await transaction.query(ALLOW_SLOW_DECISION, []);
    const part = await readPart(transaction, newest(), maxCommits);
    parts.push(part);
    if (!part.isLast) return { isBehind: true };
    const later = joinParts(parts);
    heads.follow(after, later);
    const startedAt = clock.monotonic();
    const commit = decideOn(later);
    pace.isSlow = clock.monotonic() - startedAt > SLOW_DECISION_MS;
    return {
      isBehind: false,
      committed: commit && (await append(transaction, options, heads, later.number + 1, commit)),
    };
  };
  try {
    for (;;) {
      const decision = await inLockedTransaction(pool, decideAndAppend);
      if (!decision.isBehind) {
        const { committed } = decision;
        pace.isSlow = false;
        if (committed) heads.follow(committed.number - 1, committed);
        return;
      }
      parts.push(...(await partsAfter(newest())));
    }
  } catch (thrown) {
    // An exception of `decide` is passed on unchanged.
    throw rejected === null ? runError(thrown) : thrown;
  }
}

async function append(
  transaction: RunTransaction,
  { queue, notify }: TransactionOptions,
  heads: StreamHeads,
  number: number,
  commit: NewCommit,
): Promise<Pick<LaterCommits, "number" | "events">> {
  const events = await heads.chain(transaction, commit.appends);
  await Promise.all([writeCommit(transaction, queue, number, commit, events), notify(transaction)]);
  return { number, events };
}

/**
 * Runs statements in a transaction that has the lock of the run from begin to end. It is READ COMMITTED: a snapshot that was taken before the lock would
 * not have the newest commits. BEGIN, the lock and the first statements of `body` are sent at once, and the database executes them in this order.
 */
const inLockedTransaction = <T>(pool: Pool, body: (transaction: RunTransaction) => Promise<T>): Promise<T> =>
  inTransaction(
    pool,
    async (client) => {
      const transaction = transactionOn(client);
      const [, result] = await Promise.all([transaction.query(LOCK, []), body(transaction)]);
      return result;
    },
    "BEGIN ISOLATION LEVEL READ COMMITTED",
  );

const LOCK = `SELECT pg_advisory_xact_lock(${RUN_LOCK})`;
const SELECT_COMMIT = "SELECT number FROM commits WHERE id = $1";

/** The part of the queue of matches that a commit needs. */
export type JobWriter = Pick<MatchQueue<RunTransaction>, "enqueue" | "complete">;

/** Writes a commit in the transaction that has the lock of the run. The statements are sent at once. */
async function writeCommit(
  transaction: RunTransaction,
  queue: JobWriter,
  number: number,
  { id, at, writes, jobs }: NewCommit,
  events: readonly RecordedEvent[],
): Promise<void> {
  const statements = [
    { text: INSERT_COMMIT, values: [number, id, at] },
    ...insertEvents(number, events),
    ...profileStatements(number, writes),
    ...logStatements(writes, at),
  ];
  const sent: Promise<unknown>[] = statements.map(({ text, values }) => transaction.query(text, [...values]));
  if (jobs.ended.length > 0) sent.push(queue.complete(transaction, jobs.ended));
  if (jobs.added.length > 0) sent.push(queue.enqueue(transaction, jobs.added));
  await Promise.all(sent);
}

/** Returns the values of rows by column. A statement has one array for each column, so that its text does not depend on the number of rows. */
const columns = <Row>(rows: readonly Row[], ...values: readonly ((row: Row) => unknown)[]): unknown[][] =>
  values.map((value) => rows.map(value));

/** Only the last write of each agent counts. Deletions come first, because a written profile may have the token of an erased one. */
function profileStatements(number: number, writes: readonly Write[]): PostgresStatement[] {
  const last = new Map<string, Write & { readonly type: "profile" | "erase_profile" }>();
  for (const write of writes)
    if (write.type === "profile" || write.type === "erase_profile") last.set(write.agentId, write);
  if (last.size === 0) return [];
  const agentIds = [...last.keys()];
  const erased = agentIds.filter((agentId) => last.get(agentId)?.type === "erase_profile");
  const written = [...last.values()].filter((write) => write.type === "profile");
  const ids = written.map(({ agentId }) => agentId);
  const profiles = written.map(({ profile }) => profile);
  const rows = columns(
    profiles,
    ({ name }) => name,
    ({ salt }) => salt,
    ({ endpoint }) => endpoint,
  );
  const tokens = profiles.map(({ tokenHash }) => tokenHash);
  return [
    ...(erased.length > 0
      ? [
          { text: DELETE_PROFILES, values: [erased] },
          { text: DELETE_TOKENS, values: [erased] },
        ]
      : []),
    ...(written.length > 0
      ? [
          { text: UPSERT_PROFILES, values: [ids, ...rows] },
          { text: UPSERT_TOKENS, values: [ids, tokens] },
        ]
      : []),
    { text: UPSERT_CHANGES, values: [agentIds, number] },
  ];
}

function logStatements(writes: readonly Write[], at: string): PostgresStatement[] {
  const logs = writes.filter((write) => write.type === "session_log");
  const times = writes.filter((write) => write.type === "answer_times");
  const keys = columns(
    logs,
    ({ leagueId }) => leagueId,
    ({ matchId }) => matchId,
    ({ epoch }) => epoch,
    ({ seed }) => seed,
  );
  const texts = jsonTexts(logs.map(({ log }) => JSON.stringify(log)));
  const figures = columns(
    times,
    ({ leagueId }) => leagueId,
    ({ playerId }) => playerId,
    ({ matchId }) => matchId,
    ({ epoch }) => epoch,
    ({ times }) => times.turns,
    ({ times }) => times.median_ms,
    ({ times }) => times.p95_ms,
    ({ times }) => times.max_ms,
    ({ times }) => times.max_tick,
    ({ times }) => times.invalid,
  );
  return [
    ...(logs.length > 0 ? [{ text: INSERT_SESSION_LOGS, values: [at, ...keys, texts] }] : []),
    ...(times.length > 0 ? [{ text: INSERT_ANSWER_TIMES, values: [...figures] }] : []),
  ];
}

const INSERT_COMMIT = "INSERT INTO commits (number, id, at) VALUES ($1, $2, $3)";
const DELETE_PROFILES = "DELETE FROM profiles WHERE agent_id = ANY ($1::text[])";
const DELETE_TOKENS = "DELETE FROM tokens WHERE agent_id = ANY ($1::text[])";
const UPSERT_PROFILES = `INSERT INTO profiles (agent_id, display_name, salt, endpoint)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
  ON CONFLICT (agent_id) DO UPDATE
    SET display_name = excluded.display_name, salt = excluded.salt, endpoint = excluded.endpoint`;
const UPSERT_TOKENS = `INSERT INTO tokens (agent_id, token_hash) SELECT * FROM unnest($1::text[], $2::text[])
  ON CONFLICT (agent_id) DO UPDATE SET token_hash = excluded.token_hash`;
const UPSERT_CHANGES = `INSERT INTO profile_changes (agent_id, commit_number) SELECT unnest($1::text[]), $2::bigint
  ON CONFLICT (agent_id) DO UPDATE SET commit_number = excluded.commit_number`;
const INSERT_SESSION_LOGS = `INSERT INTO session_logs (recorded_at, league_id, match_id, epoch, seed, log)
  SELECT $1::timestamptz, * FROM ROWS FROM (
    unnest($2::text[], $3::text[], $4::int[], $5::text[]), json_array_elements_text($6::json)
  )`;
const INSERT_ANSWER_TIMES = `INSERT INTO answer_times
  (league_id, player_id, match_id, epoch, turns, median_ms, p95_ms, max_ms, max_tick, invalid)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[],
    $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])`;

/**
 * The maximum number of commits of one read. A manager that was stopped for minutes may be hundreds of thousands of commits behind, each with up to
 * hundreds of events. A read of all would exceed the time limit of a statement.
 */
export const COMMITS_OF_A_READ = 1_000;

/** A range of commits. `number` is the last one of the range. */
interface CommitsPart extends LaterCommits {
  /** Whether the range contains the newest commit. */
  readonly isLast: boolean;
}

/** Reads the first commits after a commit. All statements must see the same commits: the transaction has the lock of the run, or one snapshot. */
async function readPart(transaction: RunTransaction, after: number, maxCommits: number): Promise<CommitsPart> {
  const end = after + maxCommits;
  const [newest, events, changes] = await Promise.all([
    transaction.query(SELECT_NUMBER, []),
    readCommits(transaction, after, end),
    transaction.query(SELECT_PROFILES, [after, end]),
  ]);
  const number = Number(newest.rows[0]?.number ?? 0);
  const profiles = new Map((changes.rows as unknown as ChangedProfile[]).map(changedProfile));
  return { number: Math.min(number, end), events, profiles, isLast: number <= end };
}

/** Reads all commits after a commit, in parts. Each part is read in a transaction of one snapshot. */
export async function readParts(pool: Pool, after: number, maxCommits: number): Promise<readonly CommitsPart[]> {
  const parts: CommitsPart[] = [];
  for (let from = after; ; ) {
    const part = await inTransaction(pool, (client) => readPart(transactionOn(client), from, maxCommits), ONE_MOMENT);
    parts.push(part);
    if (part.isLast) return parts;
    from = part.number;
  }
}

/**
 * Joins parts that follow each other. The profile of an agent is in the part of its last change, so the last part must have been read up to the newest
 * commit.
 */
export const joinParts = (parts: readonly CommitsPart[]): LaterCommits => ({
  number: parts.at(-1)?.number ?? 0,
  events: parts.flatMap(({ events }) => events),
  profiles: new Map(parts.flatMap(({ profiles }) => [...profiles])),
});

type ChangedProfile = { readonly agentId: string } & { readonly [Key in keyof Profile]: Profile[Key] | null };

function changedProfile({ agentId, name, salt, endpoint, tokenHash }: ChangedProfile): [string, Profile | null] {
  const isErased = name === null || salt === null || endpoint === null || tokenHash === null;
  return [agentId, isErased ? null : { name, salt, endpoint, tokenHash }];
}

/** All statements of the transaction see the commits of one moment. */
const ONE_MOMENT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const SELECT_NUMBER = "SELECT number FROM commits ORDER BY number DESC LIMIT 1";
/** With two limits the planner uses the index, even without statistics. */
const SELECT_PROFILES = `
  SELECT agent_id AS "agentId", display_name AS name, salt, endpoint, token_hash AS "tokenHash"
  FROM profile_changes LEFT JOIN profiles USING (agent_id) LEFT JOIN tokens USING (agent_id)
  WHERE commit_number > $1 AND commit_number <= $2`;

/** A head takes a few hundred bytes. */
const MAX_HEADS = 10_000;

/** A cache of the version and the last hash of each stream, from the events of commits. An append needs no query for a cached stream. */
class StreamHeads {
  /** The heads by stream. The stream with the latest event is the last one. */
  readonly #heads = new Map<string, StreamHead>();
  /** The number of the commit up to which the heads are current. */
  #number = 0;

  /** Adds the events that were committed after a commit. `number` is that of the newest commit. */
  follow(after: number, { number, events }: Pick<LaterCommits, "number" | "events">): void {
    // The commits between may have events of any stream.
    if (after > this.#number) this.#heads.clear();
    for (const { stream, seq, hash } of events) {
      this.#heads.delete(stream);
      this.#heads.set(stream, { version: seq + 1, hash });
    }
    this.#number = number;
    for (const stream of this.#heads.keys()) {
      if (this.#heads.size <= MAX_HEADS) break;
      this.#heads.delete(stream);
    }
  }

  /**
   * Returns the events of appends, chained to their streams. The transaction must have the lock of the run. Throws VersionConflict if a stream does not
   * have the expected version.
   */
  async chain(transaction: RunTransaction, appends: readonly StreamAppend[]): Promise<readonly RecordedEvent[]> {
    const unknown = appends.map(({ stream }) => stream).filter((stream) => !this.#heads.has(stream));
    if (unknown.length > 0) {
      const found = await readHeads(transaction, unknown);
      for (const stream of unknown) this.#heads.set(stream, found.get(stream) ?? EMPTY_HEAD);
    }
    return chainAppends(this.#heads, appends);
  }
}
