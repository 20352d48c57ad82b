import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { parseEntry } from "#shared/session/entry.ts";
import { endingOf } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import { kyselyOver } from "#shared/store/sqlite.ts";
import type { GameResult, GameSummary } from "#shared/web/game-view.ts";
import { playerOf } from "../agents.ts";

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
export interface SessionTable {
  /**
   * Sessions that anyone may watch, active ones first, then by creation time, newest first; at most `limit`. Abandoned games are omitted:
   * those whose seats have not acted for an hour, and those that have expired.
   */
  watchable(limit: number): Promise<readonly GameSummary[]>;
  /** The sessions of an agent, newest first, at most `limit`. With `before` only sessions that were created before that one. */
  of(agentId: string, limit: number, before?: string): Promise<readonly ListedSession[]>;
}

export function sessionTable(db: DatabaseSync, clock: Pick<Clock, "now">): SessionTable {
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
