import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { parseEntry } from "#shared/session/entry.ts";
import { endingOf } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import type { EventLog } from "#shared/store/event-log.ts";
import { kyselyOver } from "#shared/store/sqlite.ts";
import { EVENT_LOG_SCHEMA, sqliteEventLog } from "#shared/store/sqlite-event-log.ts";
import type { Statement, Writer } from "#shared/store/writer.ts";
import type { GameResult, GameSummary } from "#shared/web/game-view.ts";
import { playerOf } from "./agent-tokens.ts";

/** A seat of a new session. Its agent is created with it if it does not exist yet. */
export interface NewSeat {
  readonly role: string;
  readonly agentId: string;
  /** SHA-256 of the seat's token, in lowercase hex. Tokens are never stored. */
  readonly tokenHash: string;
}

/**
 * A cache of the state of a session, for readers of the database; the log is authoritative. It takes longer to write than an entry, so
 * the host writes it at the end of a session and at most once per second before.
 */
export interface Snapshot {
  readonly state: string;
  readonly status: "active" | "completed";
  readonly tick: number;
}

/** The access rules of a session, which do not change after its creation. */
export interface Access {
  /** `driver`: only the match driver submits actions, and the session never expires. `seats`: the agents of the seats submit actions. */
  readonly actedBy: "driver" | "seats";
  /** `public`: any agent may read the view of a spectator. */
  readonly spectators: "none" | "public";
}

/** A session to be added to the store. */
export interface NewSession extends Access {
  readonly sessionId: string;
  /** The id of the game. */
  readonly template: string;
  /** The seed of the game, which is secret until the session has ended. */
  readonly seed: string;
  readonly seats: readonly NewSeat[];
}

/**
 * The store of sessions. A session's stream is named by its id; `entries` and `actions` are views of the log. Rows of other tables are written
 * by statements in the transaction of an append.
 */
export const SESSION_SCHEMA = `
  ${EVENT_LOG_SCHEMA}
  CREATE TABLE IF NOT EXISTS agents (
    agent_id TEXT PRIMARY KEY,
    token TEXT UNIQUE NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS sessions (
    stream INTEGER PRIMARY KEY REFERENCES streams(number),
    session_id TEXT UNIQUE NOT NULL,
    template TEXT NOT NULL,
    state TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'active',
    tick INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    seed TEXT NOT NULL,
    acted_by TEXT NOT NULL,
    spectators TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS sessions_open ON sessions (updated_at) WHERE status = 'active' AND acted_by = 'seats';
  CREATE INDEX IF NOT EXISTS sessions_watchable ON sessions (status, created_at DESC, session_id)
    WHERE spectators = 'public' OR acted_by = 'driver';
  CREATE TABLE IF NOT EXISTS participants (
    session_id TEXT NOT NULL REFERENCES sessions(session_id),
    agent_id TEXT NOT NULL REFERENCES agents(agent_id),
    role TEXT NOT NULL,
    PRIMARY KEY (session_id, agent_id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS participants_by_agent ON participants (agent_id);
  CREATE VIEW IF NOT EXISTS entries AS
    SELECT session_id, seq, type, body, prev_hash, hash FROM log JOIN sessions USING (stream);
  CREATE VIEW IF NOT EXISTS actions AS
    SELECT session_id || ':' || seq AS action_id, session_id,
      body ->> '$.agent' AS agent_id, body ->> '$.role' AS role, body -> '$.action' AS action,
      body ->> '$.tick' AS tick, body ->> '$.at' AS created_at
    FROM entries WHERE type = 'acted';
`;

export interface SessionStore {
  readonly log: EventLog;
  /** The statements that add a session, for the transaction of its first entry; `at` is the time of that entry, ISO 8601. */
  adding(session: NewSession, snapshot: Snapshot, at: string): readonly Statement[];
  /** The statement that replaces the snapshot of a session, for the transaction of an entry; `at` is the time of that entry, ISO 8601. */
  updating(sessionId: string, snapshot: Snapshot, at: string): Statement;
  /** The id of the game of a session, its seed, for the host only, and its access rules; null for an unknown session. */
  about(sessionId: string): (Access & { readonly game: string; readonly seed: string }) | null;
  /** The number of active sessions that are played by their seats, by the id of their game. */
  countByGame(): ReadonlyMap<string, number>;
  /** The ids of active sessions that are played by their seats and whose last entry with a snapshot is older than `before`, in ms since the Unix epoch. */
  quietSince(before: number): readonly string[];
}

/** The store on a database with the tables of `SESSION_SCHEMA`. */
export function sessionStore(db: DatabaseSync, writer: Writer): SessionStore {
  const selectAbout = db.prepare(
    "SELECT template AS game, seed, acted_by AS actedBy, spectators FROM sessions WHERE session_id = ?",
  );
  const selectCounts = db.prepare(
    "SELECT template, count(*) AS count FROM sessions WHERE status = 'active' AND acted_by = 'seats' GROUP BY template ORDER BY template",
  );
  const selectQuiet = db.prepare(
    "SELECT session_id FROM sessions WHERE status = 'active' AND acted_by = 'seats' AND updated_at < datetime(? / 1000, 'unixepoch')",
  );
  return {
    log: sqliteEventLog(db, writer),
    adding: ({ sessionId, template, seed, seats, actedBy, spectators }, { state, status, tick }, at) => [
      ...seats.map((seat) => ({ sql: INSERT_AGENT, parameters: [seat.agentId, seat.tokenHash, at] })),
      {
        sql: INSERT_SESSION,
        parameters: [sessionId, template, state, status, tick, seed, actedBy, spectators, at],
      },
      ...seats.map((seat) => ({ sql: INSERT_SEAT, parameters: [sessionId, seat.agentId, seat.role] })),
    ],
    updating: (sessionId, { state, status, tick }, at) => ({
      sql: UPDATE_SESSION,
      parameters: [state, status, tick, at, sessionId],
    }),
    about: (sessionId) => (selectAbout.get(sessionId) as ReturnType<SessionStore["about"]> | undefined) ?? null,
    countByGame: () => new Map(selectCounts.all().map(({ template, count }) => [String(template), Number(count)])),
    quietSince: (before) => selectQuiet.all(before).map((row) => String(row.session_id)),
  };
}

/** The times of a session and of its agents are the times of its entries, in the format of SQLite. */
const INSERT_AGENT =
  "INSERT INTO agents (agent_id, token, created_at) VALUES (?, ?, datetime(?)) ON CONFLICT (agent_id) DO NOTHING";
const INSERT_SESSION = `INSERT INTO sessions
    (stream, session_id, template, state, status, tick, seed, acted_by, spectators, created_at, updated_at)
  VALUES ((SELECT number FROM streams WHERE name = ?1), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, datetime(?9), datetime(?9))`;
const INSERT_SEAT = "INSERT INTO participants (session_id, agent_id, role) VALUES (?, ?, ?)";
const UPDATE_SESSION =
  "UPDATE sessions SET state = ?, status = ?, tick = ?, updated_at = datetime(?) WHERE session_id = ?";

interface Tables {
  sessions: {
    stream: number;
    session_id: string;
    template: string;
    state: string;
    status: string;
    created_at: string;
    updated_at: string;
    acted_by: string;
    spectators: string;
  };
  seats: { session_id: string; role: string; kind: string; name: string; joined: number };
  participants: { session_id: string; agent_id: string; role: string };
  log: { stream: number; seq: number; type: string; body: string };
}

/** A session in the list of an agent. */
interface ListedSession {
  readonly session_id: string;
  readonly template: string;
  readonly status: string;
  readonly tick: number;
  readonly your_role: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

/** The time without an action after which a game is abandoned, so that it leaves the list. Its players can continue it until it expires. */
const ABANDONED_AFTER_MS = 3_600_000;

/** The lists of sessions. */
export interface SessionLists {
  /**
   * Sessions that anyone may watch, active ones first, then by creation time, newest first; at most `limit`. Abandoned games are omitted:
   * those whose seats have not acted for an hour, and those that have expired.
   */
  watchable(limit: number): Promise<readonly GameSummary[]>;
  /** The sessions of an agent, newest first, at most `limit`. With `before` only sessions that were created before that one. */
  of(agentId: string, limit: number, before?: string): Promise<readonly ListedSession[]>;
}

export function sessionLists(db: DatabaseSync, clock: Pick<Clock, "now">): SessionLists {
  const open = lazily("the tables of sessions", () => kyselyOver<Tables>(db));
  return {
    watchable: async (limit) => watchableGames(await open(), clock.now() - ABANDONED_AFTER_MS, limit),
    of: async (agentId, limit, before) => sessionsOf(await open(), agentId, limit, before),
  };
}

/** `abandonedSince` is the time before which the last action of an abandoned game lies, in ms since the Unix epoch. */
async function watchableGames(
  tables: Kysely<Tables>,
  abandonedSince: number,
  limit: number,
): Promise<readonly GameSummary[]> {
  const rows = await tables
    .selectFrom("sessions")
    .select(["session_id", "template", "status", "created_at"])
    .where((eb) => eb.or([eb("spectators", "=", "public"), eb("acted_by", "=", "driver")]))
    .where((eb) =>
      eb.or([
        eb("status", "!=", "active"),
        eb("acted_by", "=", "driver"),
        eb("updated_at", ">=", eb.fn<string>("datetime", [eb.val(abandonedSince / 1000), eb.val("unixepoch")])),
      ]),
    )
    .where((eb) =>
      eb.or([
        eb("status", "!=", "completed"),
        eb(
          eb
            .selectFrom("log")
            .select("type")
            .whereRef("log.stream", "=", "sessions.stream")
            .orderBy("seq", "desc")
            .limit(1),
          "is not",
          "expired",
        ),
      ]),
    )
    .orderBy("status")
    .orderBy("created_at", "desc")
    .orderBy("session_id")
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.session_id);
  const seats = ids.length === 0 ? [] : await seatsIn(tables, ids);
  const completed = rows.filter(({ status }) => status === "completed").map((row) => row.session_id);
  const ends = new Map(
    (completed.length === 0 ? [] : await endsOf(tables, completed)).map((end) => [end.session_id, end]),
  );
  return rows.map(({ session_id, ...row }) => {
    const ownSeats = seats.filter((seat) => seat.session_id === session_id);
    const names = new Map(ownSeats.map(({ role, name, agent_id }) => [role, name ?? playerOf(agent_id)]));
    const isWaiting = row.status === "active" && ownSeats.some(({ joined }) => joined === 0);
    const game = findGame(row.template);
    const end = ends.get(session_id);
    return {
      game_id: session_id,
      ...row,
      ...(isWaiting && { status: "waiting_for_players" }),
      created_at: withZone(row.created_at),
      players: Object.fromEntries((game?.roles ?? [...names.keys()]).map((role) => [role, names.get(role) ?? ""])),
      result: game && end ? resultOfEnd(game, end) : null,
    };
  });
}

async function sessionsOf(
  tables: Kysely<Tables>,
  agentId: string,
  limit: number,
  before: string | undefined,
): Promise<readonly ListedSession[]> {
  let query = tables
    .selectFrom("participants")
    .innerJoin("sessions", "sessions.session_id", "participants.session_id")
    .select((eb) => [
      "sessions.session_id",
      "template",
      "status",
      // The tick is counted in the log, because the cached state in the sessions table may be a second old.
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
  const rows = await query.orderBy("created_at", "desc").orderBy("sessions.session_id", "desc").limit(limit).execute();
  return rows.map((row) => ({ ...row, tick: Number(row.tick), created_at: withZone(row.created_at) }));
}

const seatsIn = (tables: Kysely<Tables>, ids: readonly string[]) =>
  tables
    .selectFrom("participants")
    .leftJoin("seats", (join) =>
      join.onRef("seats.session_id", "=", "participants.session_id").onRef("seats.role", "=", "participants.role"),
    )
    .select(["participants.session_id", "participants.role", "participants.agent_id", "seats.name", "seats.joined"])
    .where("participants.session_id", "in", ids)
    .execute();

/** A `datetime` of SQLite as ISO 8601 in UTC. Without the zone a browser would parse it as local time. */
const withZone = (datetime: string): string => `${datetime.replace(" ", "T")}Z`;

/** The cached state of a completed session and its last log entry. */
interface StoredEnd {
  readonly state: string;
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

/** The result of a completed game; null if this version cannot parse the cached state or the entry. */
function resultOfEnd(game: Game, { state, last }: StoredEnd): GameResult | null {
  try {
    const ending = endingOf(game, JSON.parse(state), parseEntry(last ?? ""));
    return ending && resultOf(ending);
  } catch {
    return null;
  }
}
