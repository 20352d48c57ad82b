import type { RecordedEvent } from "#shared/store/event-log.ts";
import { insertEvents, jsonTexts, type PostgresStatement } from "#shared/store/postgres/postgres-event-log.ts";
import type { Write } from "../ledger.ts";
import type { MatchQueue } from "../queue/match-queue.ts";
import type { NewCommit } from "../shared-run/run-database.ts";
import type { RunTransaction } from "./run-transaction.ts";

/** The part of the queue of matches that a commit needs. */
export type JobWriter = Pick<MatchQueue<RunTransaction>, "enqueue" | "complete">;

/** Writes a commit in the transaction that has the lock of the run. The statements are sent at once. */
export async function writeCommit(
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
