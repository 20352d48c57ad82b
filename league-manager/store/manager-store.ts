import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { AnswerTimes } from "#shared/protocol/answer-times.ts";
import type { EventLog } from "#shared/store/event-log.ts";
import type { Statement } from "#shared/store/group-commit.ts";
import { sqliteEventLog } from "#shared/store/sqlite-event-log.ts";
import { isBroken } from "#shared/store/store-errors.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { Profile } from "../agents/agent.ts";
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

/** The manager's store: the log of its streams and its other tables. */
export interface ManagerStore {
  readonly log: EventLog;
  /** The statements of a write. They are executed in the transaction of its events. */
  statementsOf(write: Write, at: string): readonly Statement[];
  /**
   * The statements that replace the snapshot of a league's stream: the head, and the rounds that have changed since the previous snapshot. `version`
   * is the version of the stream.
   */
  snapshotStatements(stream: string, version: number, snapshot: LeagueSnapshot): readonly Statement[];
  /** The profiles by agent id, without erased ones. */
  loadProfiles(): ReadonlyMap<string, Profile>;
  /** Returns the log of a match under its newest epoch, or null if none is recorded. */
  sessionLogOf(leagueId: string, matchId: string): SessionLog | null;
  /** Returns the answer times of a player in a match under its newest epoch, or null if its referee has not reported them. */
  answerTimesOf(leagueId: string, matchId: string, playerId: string): AnswerTimes | null;
  /** Returns the head of the snapshot of a league's stream and the version of the stream, or null if there is none. */
  readSnapshot(stream: string): { readonly version: number; readonly head: string } | null;
  /** Returns the text of a round in the snapshot of a league's stream, or null if there is none. */
  readSnapshotRound(stream: string, roundId: number): string | null;
  getMeta(key: string): string | null;
  /** Resolves when the value is on disk. */
  setMeta(key: string, value: string): Promise<void>;
  /** Resolves when all earlier appends are settled. The database stays open. */
  close(): Promise<void>;
}

/**
 * Creates the store on a database with the tables of `MANAGER_SCHEMA`. `writer` writes to the same database; it is `noWriter` if the store is only
 * read. `onBroken` is called when a read finds that the file is damaged.
 */
export function managerStore(
  db: DatabaseSync,
  writer: Writer,
  onBroken: (error: Error) => void = () => {},
): ManagerStore {
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
  const selectSnapshotRound = select("SELECT body FROM snapshot_rounds WHERE stream = ? AND round_id = ?");
  const selectMeta = select("SELECT value FROM meta WHERE key = ?");
  const log = sqliteEventLog(db, writer);
  return {
    log: {
      ...log,
      read: (...range) => reportingDamage(() => log.read(...range)),
      streams: (prefix) => reportingDamage(() => log.streams(prefix)),
    },
    statementsOf,
    snapshotStatements: (stream, version, { head, rounds }) => [
      { sql: UPSERT_SNAPSHOT, parameters: [stream, version, head] },
      ...[...rounds].map(([roundId, body]) => ({ sql: UPSERT_SNAPSHOT_ROUND, parameters: [stream, roundId, body] })),
    ],
    loadProfiles: () => {
      const rows = selectProfiles<Profile & { agentId: string }>();
      return new Map(rows.map(({ agentId, ...profile }) => [agentId, profile]));
    },
    sessionLogOf(leagueId, matchId) {
      const [row] = selectLog<Omit<SessionLog, "log"> & { log: string }>(leagueId, matchId);
      return row ? { ...row, log: JSON.parse(row.log) as string[] } : null;
    },
    answerTimesOf: (leagueId, matchId, playerId) => selectTimes<AnswerTimes>(leagueId, playerId, matchId)[0] ?? null,
    readSnapshot: (stream) => selectSnapshot<{ version: number; head: string }>(stream)[0] ?? null,
    readSnapshotRound: (stream, roundId) => selectSnapshotRound<{ body: string }>(stream, roundId)[0]?.body ?? null,
    getMeta: (key) => selectMeta<{ value: string }>(key)[0]?.value ?? null,
    setMeta: (key, value) => writer.commit([{ sql: UPSERT_META, parameters: [key, value] }]),
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
const SELECT_ANSWER_TIMES = `SELECT turns, median_ms, p95_ms, max_ms, max_tick, invalid FROM answer_times
  WHERE league_id = ? AND player_id = ? AND match_id = ? ORDER BY epoch DESC LIMIT 1`;
const INSERT_ANSWER_TIMES = `INSERT INTO answer_times
  (league_id, player_id, match_id, epoch, turns, median_ms, p95_ms, max_ms, max_tick, invalid)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const UPSERT_SNAPSHOT = `INSERT INTO snapshots (stream, seq, body) VALUES (?, ?, ?)
  ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, body = excluded.body`;
const UPSERT_SNAPSHOT_ROUND = `INSERT INTO snapshot_rounds (stream, round_id, body) VALUES (?, ?, ?)
  ON CONFLICT (stream, round_id) DO UPDATE SET body = excluded.body`;
const UPSERT_META =
  "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
