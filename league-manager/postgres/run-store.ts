import type { Kysely } from "kysely";
import { jsonTexts, type Queryable, readStream, readStreams } from "#shared/store/postgres/postgres-event-log.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import { withRunErrors } from "./run-errors.ts";
import type { RunTables } from "./tables.ts";

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
