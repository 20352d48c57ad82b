import type { DatabaseSync } from "node:sqlite";
import type { Statement, Writer } from "#shared/store/writer.ts";

/** The session of a match under an epoch. */
export interface MatchRow {
  league_id: string;
  match_id: string;
  epoch: number;
  session_id: string;
  /** The run of the manager; null if the order had none. */
  run_id: string | null;
}

export const MATCH_SCHEMA = `
  CREATE TABLE IF NOT EXISTS matches (
    league_id TEXT NOT NULL,
    match_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions(session_id),
    PRIMARY KEY (league_id, match_id, epoch)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS matches_by_match ON matches (match_id);
  CREATE TABLE IF NOT EXISTS match_runs (
    league_id TEXT NOT NULL,
    match_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (league_id, match_id)
  ) STRICT, WITHOUT ROWID;
`;

/** The stored matches with their sessions. */
export interface MatchTable {
  /** The statements that add a row, for the transaction that creates its session. */
  adding(row: MatchRow): readonly Statement[];
  /**
   * Removes every epoch of a match of an earlier run, so that a later run can use its name. The match tokens of its players become invalid,
   * because the later run may assign them to other seats. The sessions stay in the log.
   */
  forget(leagueId: string, matchId: string): Promise<void>;
  /** The session of the newest epoch of a match; null if this referee has not played the match. */
  find(leagueId: string, matchId: string): MatchRow | null;
  /** The ids of the leagues that have a match with this id here. */
  leaguesOf(matchId: string): readonly string[];
}

/** Uses prepared statements instead of Kysely: every match reads this table, and loading Kysely takes a quarter of a second. */
export function matchTable(db: DatabaseSync, writer: Writer): MatchTable {
  const newest = db.prepare(
    `SELECT league_id, match_id, epoch, session_id, run_id FROM matches LEFT JOIN match_runs USING (league_id, match_id)
     WHERE league_id = ? AND match_id = ? ORDER BY epoch DESC LIMIT 1`,
  );
  const leagues = db.prepare("SELECT DISTINCT league_id FROM matches WHERE match_id = ?");
  return {
    adding: ({ league_id, match_id, epoch, session_id, run_id }) => [
      {
        sql: "INSERT INTO matches (league_id, match_id, epoch, session_id) VALUES (?, ?, ?, ?)",
        parameters: [league_id, match_id, epoch, session_id],
      },
      ...(run_id === null ? [] : [{ sql: INSERT_RUN, parameters: [league_id, match_id, run_id] }]),
    ],
    async forget(leagueId, matchId) {
      const parameters = [leagueId, matchId];
      await writer.commit([VOID_TOKENS, DELETE_MATCH, DELETE_RUN].map((sql) => ({ sql, parameters })));
    },
    find: (leagueId, matchId) => (newest.get(leagueId, matchId) as MatchRow | undefined) ?? null,
    leaguesOf: (matchId) => leagues.all(matchId).map((found) => String(found.league_id)),
  };
}

/** Replaces the tokens of a match's seats by a text that is not a hash, so that no token matches it. */
const VOID_TOKENS = `UPDATE agents SET token = 'void ' || agent_id WHERE agent_id IN (
  SELECT agent_id FROM participants JOIN matches USING (session_id) WHERE league_id = ? AND match_id = ?)`;
const DELETE_MATCH = "DELETE FROM matches WHERE league_id = ? AND match_id = ?";
const DELETE_RUN = "DELETE FROM match_runs WHERE league_id = ? AND match_id = ?";
const INSERT_RUN = "INSERT OR REPLACE INTO match_runs (league_id, match_id, run_id) VALUES (?, ?, ?)";
