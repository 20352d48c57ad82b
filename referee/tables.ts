import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import type { Statement } from "#shared/store/group-commit.ts";
import { kyselyOver } from "#shared/store/sqlite.ts";

/** Which session plays which match of which league, under which epoch. */
export interface MatchRow {
  league_id: string;
  match_id: string;
  epoch: number;
  session_id: string;
}

interface Tables {
  matches: MatchRow;
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
`;

export interface MatchTable {
  /** What adds a row, for the transaction that creates its session. */
  adding(row: MatchRow): Statement;
  /** The session of a match, its newest epoch unless one is named; null when this referee never played it. */
  find(leagueId: string, matchId: string, epoch?: number): Promise<MatchRow | null>;
  /** The leagues in which a match id occurs here. */
  leaguesOf(matchId: string): Promise<readonly string[]>;
}

export function matchTable(db: DatabaseSync): MatchTable {
  const tables: Kysely<Tables> = kyselyOver<Tables>(db);
  return {
    adding: ({ league_id, match_id, epoch, session_id }) => ({
      sql: "INSERT INTO matches (league_id, match_id, epoch, session_id) VALUES (?, ?, ?, ?)",
      parameters: [league_id, match_id, epoch, session_id],
    }),
    async find(leagueId, matchId, epoch) {
      let query = tables
        .selectFrom("matches")
        .selectAll()
        .where("league_id", "=", leagueId)
        .where("match_id", "=", matchId);
      if (epoch !== undefined) query = query.where("epoch", "=", epoch);
      return (await query.orderBy("epoch", "desc").limit(1).executeTakeFirst()) ?? null;
    },
    async leaguesOf(matchId) {
      const query = tables.selectFrom("matches").select("league_id").distinct().where("match_id", "=", matchId);
      return (await query.execute()).map((row) => row.league_id);
    },
  };
}
