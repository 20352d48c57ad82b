import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Ids } from "#shared/lib/ids.ts";
import type { AnswerTimes } from "#shared/protocol/message-fields.ts";
import { assertSeed, newSeed } from "#shared/runtime/config/config.ts";
import type { RecordedEvent, StreamAppend } from "#shared/store/event-log.ts";
import { appendOnly } from "#shared/store/sqlite.ts";
import { EVENT_LOG_SCHEMA, sqliteEventLog } from "#shared/store/sqlite-event-log.ts";
import { isBroken } from "#shared/store/store-errors.ts";
import type { Statement, Writer } from "#shared/store/writer.ts";
import type { Profile } from "../agents/registered-agent.ts";
import type { LeagueSnapshot } from "../league/snapshot.ts";
import type { Write } from "../ledger.ts";

/** The log of a recorded match. */
export interface SessionLog {
  readonly epoch: number;
  readonly seed: string;
  /** The stored texts of the entries; empty for a match that was not played. */
  readonly log: readonly string[];
  /** The time of the record, ISO 8601. */
  readonly recordedAt: string;
}

/** A snapshot of a league's stream, as it is stored. */
interface StoredSnapshot extends LeagueSnapshot {
  /** The version of the stream. */
  readonly version: number;
}

/** The manager's store: the events of its streams and its other tables. A store that several managers share has other ways to write. */
export interface ManagerStore {
  /** Returns the committed events of a stream from a sequence number on, at most `limit`; empty for an unknown stream. */
  readEvents(stream: string, from?: number, limit?: number): Promise<readonly RecordedEvent[]>;
  /** Returns the committed streams whose name begins with a prefix, in the order of their creation. */
  streams(prefix?: string): Promise<readonly string[]>;
  /** The profiles by agent id, without erased ones. */
  loadProfiles(): Promise<ReadonlyMap<string, Profile>>;
  /** Returns the log of a match under its newest epoch, or null if none is recorded. */
  sessionLogOf(leagueId: string, matchId: string): Promise<SessionLog | null>;
  /** Returns the answer times of a player by match id, each under its newest epoch, of those matches for which the referee has reported them. */
  answerTimesOf(
    leagueId: string,
    playerId: string,
    matchIds: readonly string[],
  ): Promise<ReadonlyMap<string, AnswerTimes>>;
  /** Returns the snapshot of a league's stream, with all rounds, in one consistent read; null if there is none. */
  readSnapshot(stream: string): Promise<StoredSnapshot | null>;
  /**
   * Replaces the snapshot of a league's stream: the head, and the rounds that have changed since an earlier snapshot that was in this store. `version`
   * is the version of the stream. Does nothing if the snapshot in the store is of a later version.
   */
  writeSnapshot(stream: string, version: number, snapshot: LeagueSnapshot): Promise<void>;
  getMeta(key: string): Promise<string | null>;
  /** Stores a value unless the key has one. Resolves with the value of the key when it is on disk. Of several calls at once, the first one counts. */
  initMeta(key: string, value: string): Promise<string>;
  /** Resolves when all earlier writes are settled. The database stays open. */
  close(): Promise<void>;
}

/** The store of a manager that is the only one of its run. */
export interface LedgerStore extends ManagerStore {
  /**
   * Appends to several different streams, and writes rows with this time, ISO 8601, in one transaction. Resolves when they are on disk; rejects as
   * `EventLog.append`.
   */
  commit(appends: readonly StreamAppend[], writes: readonly Write[], at: string): Promise<void>;
}

/**
 * Creates the store on a database with the tables of `MANAGER_SCHEMA`. `writer` writes to the same database; it is `noWriter` if the store is only
 * read. `onBroken` is called when a read finds that the file is damaged.
 */
export function managerStore(
  db: DatabaseSync,
  writer: Writer,
  onBroken: (error: Error) => void = () => {},
): LedgerStore {
  // Overwrites an erased profile with zeros, so that it does not remain in a free page of the file.
  db.exec("PRAGMA secure_delete = ON");
  const reportingDamage = <T>(read: () => T): T => {
    try {
      return read();
    } catch (thrown) {
      if (isBroken(thrown)) onBroken(thrown);
      throw thrown;
    }
  };
  const select = (sql: string) => {
    const statement = db.prepare(sql);
    return <Row>(...parameters: SQLInputValue[]) => reportingDamage(() => statement.all(...parameters) as Row[]);
  };
  const selectProfiles = select(SELECT_PROFILES);
  const selectLog = select(SELECT_SESSION_LOG);
  const selectTimes = select(SELECT_ANSWER_TIMES);
  const selectSnapshot = select("SELECT seq AS version, body AS head FROM snapshots WHERE stream = ?");
  const selectRounds = select("SELECT round_id AS roundId, body FROM snapshot_rounds WHERE stream = ?");
  const selectMeta = select("SELECT value FROM meta WHERE key = ?");
  const log = sqliteEventLog(db, writer);
  const getMeta = (key: string): string | null => selectMeta<{ value: string }>(key)[0]?.value ?? null;
  return {
    readEvents: async (...range) => reportingDamage(() => log.read(...range)),
    streams: async (prefix) => reportingDamage(() => log.streams(prefix)),
    async commit(appends, writes, at) {
      const statements = writes.flatMap((write) => statementsOf(write, at));
      await log.append(appends, statements);
    },
    async loadProfiles() {
      const rows = selectProfiles<Profile & { agentId: string }>();
      return new Map(rows.map(({ agentId, ...profile }) => [agentId, profile]));
    },
    async sessionLogOf(leagueId, matchId) {
      const [row] = selectLog<Omit<SessionLog, "log"> & { log: string }>(leagueId, matchId);
      return row ? { ...row, log: JSON.parse(row.log) as string[] } : null;
    },
    async answerTimesOf(leagueId, playerId, matchIds) {
      const rows = selectTimes<AnswerTimes & { matchId: string }>(leagueId, playerId, JSON.stringify(matchIds));
      return new Map(rows.map(({ matchId, ...times }) => [matchId, times]));
    },
    async readSnapshot(stream) {
      const [snapshot] = selectSnapshot<{ version: number; head: string }>(stream);
      if (!snapshot) return null;
      const rounds = selectRounds<{ roundId: number; body: string }>(stream);
      return { ...snapshot, rounds: new Map(rounds.map(({ roundId, body }) => [roundId, body])) };
    },
    writeSnapshot: (stream, version, { head, rounds }) =>
      writer.commit([
        { sql: UPSERT_SNAPSHOT, parameters: [stream, version, head] },
        ...[...rounds].map(([roundId, body]) => ({
          sql: UPSERT_SNAPSHOT_ROUND,
          parameters: [stream, roundId, body, stream, version],
        })),
      ]),
    getMeta: async (key) => getMeta(key),
    async initMeta(key, value) {
      await writer.commit([{ sql: INSERT_META, parameters: [key, value] }]);
      return getMeta(key) ?? value;
    },
    close: () => writer.close(),
  };
}

function statementsOf(write: Write, at: string): readonly Statement[] {
  switch (write.type) {
    case "profile": {
      const { agentId, profile } = write;
      return [
        { sql: UPSERT_PROFILE, parameters: [agentId, profile.name, profile.salt, profile.endpoint] },
        { sql: UPSERT_TOKEN, parameters: [agentId, profile.tokenHash] },
      ];
    }
    case "erase_profile":
      return [DELETE_PROFILE, DELETE_TOKEN].map((sql) => ({ sql, parameters: [write.agentId] }));
    case "session_log": {
      const { leagueId, matchId, epoch, seed, log } = write;
      return [{ sql: INSERT_SESSION_LOG, parameters: [leagueId, matchId, epoch, seed, JSON.stringify(log), at] }];
    }
    case "answer_times": {
      const { leagueId, playerId, matchId, epoch, times } = write;
      const { turns, median_ms, p95_ms, max_ms, max_tick, invalid } = times;
      const parameters = [leagueId, playerId, matchId, epoch, turns, median_ms, p95_ms, max_ms, max_tick, invalid];
      return [{ sql: INSERT_ANSWER_TIMES, parameters }];
    }
  }
}

const SELECT_PROFILES = `SELECT agent_id AS agentId, display_name AS name, salt, endpoint, token_hash AS tokenHash
  FROM profiles JOIN tokens USING (agent_id)`;
const SELECT_SESSION_LOG = `SELECT epoch, seed, log, recorded_at AS recordedAt FROM session_logs
  WHERE league_id = ? AND match_id = ? ORDER BY epoch DESC LIMIT 1`;
const UPSERT_PROFILE = `INSERT INTO profiles (agent_id, display_name, salt, endpoint) VALUES (?, ?, ?, ?)
  ON CONFLICT (agent_id) DO UPDATE SET display_name = excluded.display_name, salt = excluded.salt, endpoint = excluded.endpoint`;
const UPSERT_TOKEN = `INSERT INTO tokens (agent_id, token_hash) VALUES (?, ?)
  ON CONFLICT (agent_id) DO UPDATE SET token_hash = excluded.token_hash`;
const DELETE_PROFILE = "DELETE FROM profiles WHERE agent_id = ?";
const DELETE_TOKEN = "DELETE FROM tokens WHERE agent_id = ?";
const INSERT_SESSION_LOG = `INSERT INTO session_logs (league_id, match_id, epoch, seed, log, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?)`;
const SELECT_ANSWER_TIMES = `SELECT match_id AS matchId, turns, median_ms, p95_ms, max_ms, max_tick, invalid FROM answer_times
  WHERE league_id = ? AND player_id = ? AND match_id IN (SELECT value FROM json_each(?)) ORDER BY epoch`;
const INSERT_ANSWER_TIMES = `INSERT INTO answer_times
  (league_id, player_id, match_id, epoch, turns, median_ms, p95_ms, max_ms, max_tick, invalid)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const UPSERT_SNAPSHOT = `INSERT INTO snapshots (stream, seq, body) VALUES (?, ?, ?)
  ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, body = excluded.body WHERE excluded.seq > seq`;
/** Writes a round only if its head has been written. */
const UPSERT_SNAPSHOT_ROUND = `INSERT INTO snapshot_rounds (stream, round_id, body)
  SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM snapshots WHERE stream = ? AND seq = ?)
  ON CONFLICT (stream, round_id) DO UPDATE SET body = excluded.body`;
const INSERT_META = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING";

/** The values that are fixed for a run. They are rows of the store instead of events, because the seed is secret. */
export interface RunIdentity {
  /** A random id. Referees that keep their stores use it to distinguish matches of this run from matches with the same ids in other runs. */
  readonly runId: string;
  /** The seed from which the seeds of the leagues are derived. */
  readonly seed: string;
}

/** The seed for a new run. */
interface GivenSeed {
  /** null for a random one. */
  readonly seed: string | null;
  /** Whether programs may enter that no command starts. */
  readonly isOpen: boolean;
}

/**
 * Returns the identity of the run of a store. In a new store it creates one with the given seed or a random one. If several managers do so at once,
 * all of them get the same identity. Rejects with StartError if the given seed is too short for a new run.
 */
export async function openRun(
  store: Pick<ManagerStore, "getMeta" | "initMeta">,
  given: GivenSeed,
  ids: Ids,
): Promise<RunIdentity> {
  const storedSeed = await store.getMeta(SEED);
  if (storedSeed === null) assertSeed(given.seed, given.isOpen, ids);
  const runId = (await store.getMeta(RUN_ID)) ?? (await store.initMeta(RUN_ID, ids.token()));
  const seed = storedSeed ?? (await store.initMeta(SEED, given.seed ?? newSeed(ids)));
  return { runId, seed };
}

/** Reads the identity of the run of a store. Its values are empty if the store has none. */
export const readRun = async (store: Pick<ManagerStore, "getMeta">): Promise<RunIdentity> => ({
  runId: (await store.getMeta(RUN_ID)) ?? "",
  seed: (await store.getMeta(SEED)) ?? "",
});

const RUN_ID = "run_id";
const SEED = "seed";

/**
 * The tables of the manager. The streams of leagues and agents are authoritative. Personal data, secrets and session logs, which events must not
 * contain, are in other tables. So are the answer times that referees report, on which no decision depends. Snapshots can be deleted at any time.
 */
export const MANAGER_SCHEMA = `
  ${EVENT_LOG_SCHEMA}
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS profiles (
    agent_id TEXT PRIMARY KEY,
    display_name TEXT NOT NULL,
    salt TEXT NOT NULL,
    endpoint TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tokens (
    agent_id TEXT PRIMARY KEY,
    token_hash TEXT UNIQUE NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS session_logs (
    league_id TEXT NOT NULL,
    match_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seed TEXT NOT NULL,
    log TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (league_id, match_id, epoch)
  ) STRICT;
  ${appendOnly("session_logs", ["league_id", "match_id", "epoch"])}
  CREATE TABLE IF NOT EXISTS answer_times (
    league_id TEXT NOT NULL,
    player_id TEXT NOT NULL,
    match_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    median_ms INTEGER NOT NULL,
    p95_ms INTEGER NOT NULL,
    max_ms INTEGER NOT NULL,
    max_tick INTEGER NOT NULL,
    invalid INTEGER NOT NULL,
    PRIMARY KEY (league_id, player_id, match_id, epoch)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS snapshots (
    stream TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS snapshot_rounds (
    stream TEXT NOT NULL,
    round_id INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (stream, round_id)
  ) STRICT;
`;
