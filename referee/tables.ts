import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { lazily } from "#shared/lib/lazily.ts";
import { parseEntry } from "#shared/session/entry.ts";
import { endingOf } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import type { Statement } from "#shared/store/group-commit.ts";
import { kyselyOver } from "#shared/store/sqlite.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { GameResult } from "#shared/web/game-view.ts";

/** Which session plays which match of which league, under which epoch. */
export interface MatchRow {
  league_id: string;
  match_id: string;
  epoch: number;
  session_id: string;
  /** The manager's run; null when its order named none. */
  run_id: string | null;
}

interface Tables {
  sessions: {
    stream: number;
    session_id: string;
    template: string;
    state: string;
    status: string;
    created_at: string;
    acted_by: string;
    spectators: string;
  };
  seats: { session_id: string; role: string; kind: string; name: string; joined: number };
  participants: { session_id: string; agent_id: string; role: string };
  log: { stream: number; seq: number; type: string; body: string };
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

export interface MatchTable {
  /** The statements that add a row, for the transaction that creates its session. */
  adding(row: MatchRow): readonly Statement[];
  /**
   * Removes every epoch of a match of an earlier run, so that a later run can use its name. The match tokens of its players become void,
   * because the later run may give them to other seats. The sessions stay in the log.
   */
  forget(leagueId: string, matchId: string): Promise<void>;
  /** The session of a match, of its newest epoch; null when this referee never played it. */
  find(leagueId: string, matchId: string): MatchRow | null;
  /** The leagues in which a match id occurs here. */
  leaguesOf(matchId: string): readonly string[];
}

/** Prepared statements, and no Kysely: every match begins with a look here, and Kysely is a quarter of a second's loading. */
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

/** Replaces the tokens of a match's seats by a text that is no hash, so that no token matches it. */
const VOID_TOKENS = `UPDATE agents SET token = 'void ' || agent_id WHERE agent_id IN (
  SELECT agent_id FROM participants JOIN matches USING (session_id) WHERE league_id = ? AND match_id = ?)`;
const DELETE_MATCH = "DELETE FROM matches WHERE league_id = ? AND match_id = ?";
const DELETE_RUN = "DELETE FROM match_runs WHERE league_id = ? AND match_id = ?";
const INSERT_RUN = "INSERT OR REPLACE INTO match_runs (league_id, match_id, run_id) VALUES (?, ?, ?)";

/** A session in the list of an agent. */
export interface ListedSession {
  readonly session_id: string;
  readonly template: string;
  readonly status: string;
  readonly tick: number;
  readonly your_role: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

/** A game in the list of the pages. */
export interface ListedGame {
  readonly game_id: string;
  readonly template: string;
  /** "waiting_for_players" while a seat is open, then as the session's. */
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** Role to name, in the order of the game's roles. */
  readonly players: Readonly<Record<string, string>>;
  /** null while it goes on. */
  readonly result: GameResult | null;
}

export interface SessionTable {
  /** Sessions that anyone may watch, running ones first, then the newest; at most `limit`. */
  watchable(limit: number): Promise<readonly ListedGame[]>;
  /** An agent's sessions, newest first, at most `limit`; with `before` only those created before that session. */
  of(agentId: string, limit: number, before?: string): Promise<readonly ListedSession[]>;
}

export function sessionTable(db: DatabaseSync): SessionTable {
  const open = lazily(() => kyselyOver<Tables>(db));
  return {
    async watchable(limit) {
      const tables = await open();
      const rows = await tables
        .selectFrom("sessions")
        .select(["session_id", "template", "status", "created_at"])
        .where((eb) => eb.or([eb("spectators", "=", "public"), eb("acted_by", "=", "driver")]))
        .orderBy("status")
        .orderBy("created_at", "desc")
        .orderBy("session_id")
        .limit(limit)
        .execute();
      const ids = rows.map((row) => row.session_id);
      const seated = ids.length === 0 ? [] : await seatedIn(tables, ids);
      const over = rows.filter(({ status }) => status === "completed").map((row) => row.session_id);
      const ends = new Map((over.length === 0 ? [] : await endsOf(tables, over)).map((end) => [end.session_id, end]));
      return rows.map(({ session_id, ...row }) => {
        const placed = seated.filter((one) => one.session_id === session_id);
        const names = new Map(placed.map(({ role, name, agent_id }) => [role, name ?? playerOf(agent_id)]));
        const isWaiting = row.status === "active" && placed.some(({ joined }) => joined === 0);
        const game = findGame(row.template);
        const end = ends.get(session_id);
        return {
          game_id: session_id,
          ...row,
          ...(isWaiting && { status: "waiting_for_players" }),
          created_at: withZone(row.created_at),
          players: Object.fromEntries((game?.roles ?? []).map((role) => [role, names.get(role) ?? ""])),
          result: game && end ? toldOf(game, end) : null,
        };
      });
    },
    async of(agentId, limit, before) {
      const tables = await open();
      let query = tables
        .selectFrom("participants")
        .innerJoin("sessions", "sessions.session_id", "participants.session_id")
        .select((eb) => [
          "sessions.session_id",
          "template",
          "status",
          // The session's own copy may be a second old; the log never is.
          eb
            .selectFrom("log")
            .select((log) => log.fn.countAll<number>().as("tick"))
            .whereRef("log.stream", "=", "sessions.stream")
            .where("type", "=", "acted")
            .as("tick"),
          "role as your_role",
          "created_at",
        ])
        .where("agent_id", "=", agentId);
      if (before !== undefined) {
        const created = tables.selectFrom("sessions").select("created_at").where("session_id", "=", before);
        query = query.where((eb) =>
          eb.or([
            eb("created_at", "<", created),
            eb.and([eb("created_at", "=", created), eb("sessions.session_id", "<", before)]),
          ]),
        );
      }
      const rows = await query
        .orderBy("created_at", "desc")
        .orderBy("sessions.session_id", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...row, tick: Number(row.tick), created_at: withZone(row.created_at) }));
    },
  };
}

const seatedIn = (tables: Kysely<Tables>, ids: readonly string[]) =>
  tables
    .selectFrom("participants")
    .leftJoin("seats", (join) =>
      join.onRef("seats.session_id", "=", "participants.session_id").onRef("seats.role", "=", "participants.role"),
    )
    .select(["participants.session_id", "participants.role", "participants.agent_id", "seats.name", "seats.joined"])
    .where("participants.session_id", "in", ids)
    .execute();

/** SQLite's `datetime` as ISO 8601: without the zone a browser would take it for its own. */
const withZone = (datetime: string): string => `${datetime.replace(" ", "T")}Z`;

interface KeptEnd {
  readonly state: string;
  /** The last entry. */
  readonly last: string | null;
}

const endsOf = (tables: Kysely<Tables>, ids: readonly string[]) =>
  tables
    .selectFrom("sessions")
    .select((eb) => [
      ...(["session_id", "state"] as const),
      eb
        .selectFrom("log")
        .select("body")
        .whereRef("log.stream", "=", "sessions.stream")
        .orderBy("seq", "desc")
        .limit(1)
        .as("last"),
    ])
    .where("session_id", "in", ids)
    .execute();

/** How a game ended. The copy of its state is a courtesy, the log alone the truth: one that this version does not read tells nothing. */
function toldOf(game: Game, { state, last }: KeptEnd): GameResult | null {
  try {
    const ending = endingOf(game, JSON.parse(state), parseEntry(last ?? ""));
    return ending && resultOf(ending);
  } catch {
    return null;
  }
}

/** The agent of a league's player is named after it: `P01@league/R1M1`. */
export const playerOf = (agentId: string): string => agentId.split("@", 1)[0] ?? agentId;
