import { type ColumnType, type Generated, Kysely, PostgresDialect } from "kysely";
import type { Pool } from "pg";
import { jsonTexts, type Queryable, readStream, readStreams } from "#shared/store/postgres/log-statements.ts";
import { assertSchema } from "#shared/store/postgres/migrations.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import { MIGRATIONS } from "./run-migrations.ts";
import { withRunErrors } from "./run-transaction.ts";

/** Reads and writes the tables of a run outside its commits. Every operation rejects with DatabaseUnavailable if the database does not answer. */
export function runStore({
  pool,
  kysely,
}: {
  readonly pool: Queryable;
  readonly kysely: Kysely<RunTables>;
}): Omit<ManagerStore, "close"> {
  return {
    readEvents: (...range) => withRunErrors(readStream(pool, ...range)),
    streams: (prefix) => withRunErrors(readStreams(pool, prefix)),
    loadProfiles: () => withRunErrors(loadProfiles(kysely)),
    sessionLogOf: (...match) => withRunErrors(sessionLogOf(kysely, ...match)),
    answerTimesOf: (...matches) => withRunErrors(answerTimesOf(kysely, ...matches)),
    readSnapshot: (stream) => withRunErrors(readSnapshot(kysely, stream)),
    writeSnapshot: (stream, version, { head, rounds }) =>
      withRunErrors(
        pool.query(WRITE_SNAPSHOT, [stream, version, head, [...rounds.keys()], jsonTexts([...rounds.values()])]),
      ).then(() => {}),
    getMeta: (key) => withRunErrors(getMeta(kysely, key)),
    initMeta: (key, value) => withRunErrors(initMeta(kysely, key, value)),
  };
}

type Tables = Kysely<RunTables>;

async function loadProfiles(tables: Tables): ReturnType<ManagerStore["loadProfiles"]> {
  const rows = await tables
    .selectFrom("profiles")
    .innerJoin("tokens", "tokens.agent_id", "profiles.agent_id")
    .select(["profiles.agent_id as agentId", "display_name as name", "salt", "endpoint", "token_hash as tokenHash"])
    .execute();
  return new Map(rows.map(({ agentId, ...profile }) => [agentId, profile]));
}

async function sessionLogOf(
  tables: Tables,
  leagueId: string,
  matchId: string,
): ReturnType<ManagerStore["sessionLogOf"]> {
  const row = await tables
    .selectFrom("session_logs")
    .select(["epoch", "seed", "log", "recorded_at"])
    .where("league_id", "=", leagueId)
    .where("match_id", "=", matchId)
    .orderBy("epoch", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const { epoch, seed, log, recorded_at } = row;
  return { epoch, seed, log: JSON.parse(log) as string[], recordedAt: recorded_at.toISOString() };
}

async function answerTimesOf(
  tables: Tables,
  leagueId: string,
  playerId: string,
  matchIds: readonly string[],
): ReturnType<ManagerStore["answerTimesOf"]> {
  const rows = await tables
    .selectFrom("answer_times")
    .select(["match_id as matchId", "turns", "median_ms", "p95_ms", "max_ms", "max_tick", "invalid"])
    .where("league_id", "=", leagueId)
    .where("player_id", "=", playerId)
    .where(({ eb, fn, val }) => eb("match_id", "=", fn.any(val(matchIds as string[]))))
    .orderBy("epoch")
    .execute();
  // The last epoch of a match replaces the earlier ones.
  return new Map(rows.map(({ matchId, ...times }) => [matchId, times]));
}

/** Both tables are read by one statement, so that no other manager replaces the snapshot in between. */
async function readSnapshot(tables: Tables, stream: string): ReturnType<ManagerStore["readSnapshot"]> {
  const head = tables
    .selectFrom("snapshots")
    .select((of) => ["seq as version", of.lit(0).$castTo<number>().as("roundId"), "body"])
    .where("stream", "=", stream);
  const rounds = tables
    .selectFrom("snapshot_rounds")
    .select((of) => [of.lit(0).$castTo<number>().as("version"), "round_id as roundId", "body"])
    .where("stream", "=", stream);
  const rows = await head.unionAll(rounds).execute();
  const found = rows.find(({ roundId }) => roundId === 0);
  if (!found) return null;
  const roundRows = rows.filter((row) => row !== found);
  return {
    version: found.version,
    head: found.body,
    rounds: new Map(roundRows.map(({ roundId, body }) => [roundId, body])),
  };
}

async function getMeta(tables: Tables, key: string): Promise<string | null> {
  const row = await tables.selectFrom("meta").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value ?? null;
}

async function initMeta(tables: Tables, key: string, value: string): Promise<string> {
  await tables
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doNothing())
    .execute();
  return (await getMeta(tables, key)) ?? value;
}

/** Writes the rounds only if it has written the head. The row of the head is locked until both are committed. */
const WRITE_SNAPSHOT = `
  WITH head AS (
    INSERT INTO snapshots (stream, seq, body) VALUES ($1, $2, $3)
    ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, body = excluded.body WHERE excluded.seq > snapshots.seq
    RETURNING stream
  )
  INSERT INTO snapshot_rounds (stream, round_id, body)
  SELECT stream, round_id, round.body
  FROM head, ROWS FROM (unnest($4::int[]), json_array_elements_text($5::json)) AS round (round_id, body)
  ON CONFLICT (stream, round_id) DO UPDATE SET body = excluded.body`;

/** The data of a run at one moment. */
export type StoredRunData = Pick<
  ManagerStore,
  "readEvents" | "streams" | "loadProfiles" | "sessionLogOf" | "answerTimesOf" | "readSnapshot" | "getMeta"
>;

/**
 * Calls `read` with the data of a run at one moment. It may read for a long time while managers continue the run. Rejects with OtherSchema if the tables
 * have another version.
 */
export async function readPostgresRun<T>(pool: Pool, read: (data: StoredRunData) => Promise<T>): Promise<T> {
  await assertSchema(pool, MIGRATIONS);
  const client = await pool.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    // The caller may compute for a long time between two reads.
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    const connect = async () => ({ query: client.query.bind(client), release() {} });
    const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as never });
    return await read(runStore({ pool: client, kysely: new Kysely<RunTables>({ dialect }) }));
  } finally {
    client.release(true); // the end of the connection ends the transaction
  }
}

/** A time, which PostgreSQL stores with microseconds and pg returns as a date. */
type Time = ColumnType<Date, string, string>;

/** The tables of a run, for Kysely. `migrations.ts` creates them. */
export interface RunTables {
  readonly streams: { number: Generated<number>; name: string };
  readonly log: {
    stream: number;
    seq: number;
    type: string;
    body: string;
    prev_hash: string;
    hash: string;
    commit_number: number;
    commit_index: number;
  };
  readonly commits: { number: number; id: string; at: Time };
  readonly meta: { key: string; value: string };
  readonly profiles: { agent_id: string; display_name: string; salt: string; endpoint: string };
  readonly tokens: { agent_id: string; token_hash: string };
  readonly profile_changes: { agent_id: string; commit_number: number };
  readonly session_logs: {
    league_id: string;
    match_id: string;
    epoch: number;
    seed: string;
    log: string;
    recorded_at: Time;
  };
  readonly answer_times: {
    league_id: string;
    player_id: string;
    match_id: string;
    epoch: number;
    turns: number;
    median_ms: number;
    p95_ms: number;
    max_ms: number;
    max_tick: number;
    invalid: number;
  };
  readonly snapshots: { stream: string; seq: number; body: string };
  readonly snapshot_rounds: { stream: string; round_id: number; body: string };
  readonly managers: { id: string; url: string; seen_at: Time };
}
