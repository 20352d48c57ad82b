import type { DatabaseSync } from "node:sqlite";
import { appendOnly, kyselyOver } from "#shared/store/sqlite.ts";

/** The manager's tables. Lists and messages are kept as JSON text. */
export interface Tables {
  meta: { key: string; value: string };
  agents: AgentRow;
  leagues: LeagueRow;
  entrants: { league_id: string; player_id: string };
  matches: MatchRow;
  results: ResultRow;
}

export interface AgentRow {
  agent_id: string;
  kind: "player" | "referee";
  display_name: string;
  endpoint: string;
  /** SHA-256 of the token, lowercase hex. */
  token_hash: string;
  state: string;
  /** Matches in a row lost by TIMEOUT. */
  fails: number;
  game_types: string;
  /** 0: MOVE_REQUEST goes without the legal list. */
  legal_actions: number;
  /** 0: ROUND_RESULT is not sent. */
  round_results: number;
  /** 1: several calls may come in one POST. */
  batch: number;
  max_concurrent: number;
  dialect: string;
}

export interface LeagueRow {
  league_id: string;
  status: "open" | "running" | "completed";
}

export interface MatchRow {
  league_id: string;
  match_id: string;
  round_id: number;
  /** Role to player id, JSON. */
  roles: string;
  status: "scheduled" | "assigned" | "completed";
  epoch: number;
  referee_id: string | null;
  /** How often it was aborted through no fault of its players. */
  aborts: number;
}

/** Append-only: what a match ended with, once. */
export interface ResultRow {
  league_id: string;
  match_id: string;
  epoch: number;
  referee_id: string | null;
  /** MATCH_RESULT's payload without its log, JSON. */
  result: string;
  /** The session's entries as the referee sent them, JSON list of texts; empty for a match that was not played. */
  log: string;
  seed: string;
  recorded_at: string;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS agents (
    agent_id TEXT PRIMARY KEY, kind TEXT NOT NULL, display_name TEXT NOT NULL, endpoint TEXT NOT NULL,
    token_hash TEXT UNIQUE NOT NULL, state TEXT NOT NULL, fails INTEGER NOT NULL, game_types TEXT NOT NULL,
    legal_actions INTEGER NOT NULL, round_results INTEGER NOT NULL, batch INTEGER NOT NULL, max_concurrent INTEGER NOT NULL,
    dialect TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS leagues (league_id TEXT PRIMARY KEY, status TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS entrants (
    league_id TEXT NOT NULL, player_id TEXT NOT NULL REFERENCES agents(agent_id), PRIMARY KEY (league_id, player_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS matches (
    league_id TEXT NOT NULL, match_id TEXT NOT NULL, round_id INTEGER NOT NULL, roles TEXT NOT NULL, status TEXT NOT NULL,
    epoch INTEGER NOT NULL, referee_id TEXT, aborts INTEGER NOT NULL, PRIMARY KEY (league_id, match_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS results (
    league_id TEXT NOT NULL, match_id TEXT NOT NULL, epoch INTEGER NOT NULL, referee_id TEXT, result TEXT NOT NULL,
    log TEXT NOT NULL, seed TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (league_id, match_id)
  ) STRICT;
  ${appendOnly("results", ["league_id", "match_id"])}
`;

export { SCHEMA as MANAGER_SCHEMA };

/** Everything that was kept, as rows, in the order it was written. */
export interface Kept {
  readonly meta: ReadonlyMap<string, string>;
  readonly agents: readonly AgentRow[];
  readonly leagues: readonly LeagueRow[];
  readonly entrants: readonly { league_id: string; player_id: string }[];
  readonly matches: readonly MatchRow[];
  readonly results: readonly Omit<ResultRow, "log">[];
}

/** The manager's store: each method is one transaction, on disk when it resolves. */
export interface ManagerStore {
  load(): Promise<Kept>;
  setMeta(key: string, value: string): Promise<void>;
  saveAgent(row: AgentRow, leagueIds: readonly string[]): Promise<void>;
  setAgentState(agentId: string, state: string, fails: number): Promise<void>;
  removeEntrant(leagueId: string, playerId: string): Promise<void>;
  /** Only for one that is in no league. */
  deleteAgent(agentId: string): Promise<void>;
  setLeagueStatus(leagueId: string, status: LeagueRow["status"], matches: readonly MatchRow[]): Promise<void>;
  addMatch(row: MatchRow): Promise<void>;
  updateMatch(row: MatchRow): Promise<void>;
  /** Records a result and completes its match; both or neither. */
  recordResult(result: ResultRow): Promise<void>;
  logOf(leagueId: string, matchId: string): Promise<{ log: readonly string[]; seed: string } | null>;
}

export async function managerStore(db: DatabaseSync, onBroken?: (error: Error) => void): Promise<ManagerStore> {
  const tables = await kyselyOver<Tables>(db, onBroken);
  return {
    async load() {
      const meta = await tables.selectFrom("meta").selectAll().execute();
      return {
        meta: new Map(meta.map(({ key, value }) => [key, value])),
        agents: await tables.selectFrom("agents").selectAll().orderBy("agent_id").execute(),
        leagues: await tables.selectFrom("leagues").selectAll().execute(),
        entrants: await tables.selectFrom("entrants").selectAll().orderBy("player_id").execute(),
        matches: await tables.selectFrom("matches").selectAll().execute(),
        results: await tables
          .selectFrom("results")
          .select(["league_id", "match_id", "epoch", "referee_id", "result", "seed", "recorded_at"])
          .execute(),
      };
    },
    async setMeta(key, value) {
      const query = tables.insertInto("meta").values({ key, value });
      await query.onConflict((conflict) => conflict.column("key").doUpdateSet({ value })).execute();
    },
    async saveAgent(row, leagueIds) {
      await tables.transaction().execute(async (transaction) => {
        const { agent_id, ...values } = row;
        const query = transaction.insertInto("agents").values(row);
        await query.onConflict((conflict) => conflict.column("agent_id").doUpdateSet(values)).execute();
        for (const league_id of leagueIds) {
          const entry = transaction.insertInto("entrants").values({ league_id, player_id: agent_id });
          await entry.onConflict((conflict) => conflict.doNothing()).execute();
        }
      });
    },
    async setAgentState(agentId, state, fails) {
      await tables.updateTable("agents").set({ state, fails }).where("agent_id", "=", agentId).execute();
    },
    async removeEntrant(leagueId, playerId) {
      const query = tables.deleteFrom("entrants").where("league_id", "=", leagueId);
      await query.where("player_id", "=", playerId).execute();
    },
    async deleteAgent(agentId) {
      await tables.deleteFrom("agents").where("agent_id", "=", agentId).execute();
    },
    async setLeagueStatus(league_id, status, matches) {
      await tables.transaction().execute(async (transaction) => {
        const query = transaction.insertInto("leagues").values({ league_id, status });
        await query.onConflict((conflict) => conflict.column("league_id").doUpdateSet({ status })).execute();
        for (const match of matches) await transaction.insertInto("matches").values(match).execute();
      });
    },
    async addMatch(row) {
      await tables.insertInto("matches").values(row).execute();
    },
    async updateMatch({ league_id, match_id, ...values }) {
      const query = tables.updateTable("matches").set(values).where("league_id", "=", league_id);
      await query.where("match_id", "=", match_id).execute();
    },
    async recordResult(result) {
      await tables.transaction().execute(async (transaction) => {
        await transaction.insertInto("results").values(result).execute();
        const query = transaction.updateTable("matches").set({ status: "completed" });
        await query.where("league_id", "=", result.league_id).where("match_id", "=", result.match_id).execute();
      });
    },
    async logOf(leagueId, matchId) {
      const query = tables.selectFrom("results").select(["log", "seed"]).where("league_id", "=", leagueId);
      const row = await query.where("match_id", "=", matchId).executeTakeFirst();
      return row ? { log: JSON.parse(row.log) as string[], seed: row.seed } : null;
    },
  };
}
