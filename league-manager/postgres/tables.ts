import type { ColumnType, Generated } from "kysely";

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
