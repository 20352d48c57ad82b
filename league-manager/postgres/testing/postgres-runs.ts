import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { inTransaction, openPostgres } from "#shared/store/postgres/connection.ts";
import { appendOnlyTables } from "#shared/store/postgres/log-statements.ts";
import { migrate } from "#shared/store/postgres/migrations.ts";
import { grantRights } from "#shared/store/postgres/rights.ts";
import { execute, type PostgresServer } from "#shared/store/testing/postgres-server.ts";
import type { JobChanges, MatchJob } from "../../match-queue.ts";
import type { TestedRun } from "../../shared-run/testing/tested-run.ts";
import { openPostgresRun, type PostgresRun, type PostgresRunOptions } from "../postgres-run.ts";
import { MIGRATIONS } from "../run-migrations.ts";
import type { RunTransaction } from "../run-transaction.ts";
import { type FaultProxy, openFaultProxy } from "./fault-proxy.ts";

/** The migrated databases of servers by their URLs. A copy of one takes less time than the migrations. */
const templates = new Map<string, Promise<string>>();

/** Creates the database of a new run. Returns its URL for the owner of the tables. */
export async function createRun(server: PostgresServer): Promise<string> {
  const known = templates.get(server.url);
  const template = known ?? createTemplate(server);
  templates.set(server.url, template);
  return server.createDatabase(await template);
}

async function createTemplate(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase();
  const { pool, close } = openPostgres<unknown>(url, { applicationName: "test" });
  await migrate(pool, MIGRATIONS);
  await pool.query(JOB_TABLE);
  await pool.query(CREATE_ROLE);
  await inTransaction(pool, (client) => grantRights(client, ROLE, appendOnlyTables(MIGRATIONS)));
  await close();
  return url;
}

const JOB_TABLE = "CREATE TABLE test_jobs (position serial, change text, league_id text, match_id text, epoch int)";

/** The role of the managers, which has the rights that `league db migrate` grants. */
const ROLE = "manager_of_test";
const CREATE_ROLE = `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${ROLE}') THEN
      CREATE ROLE ${ROLE} LOGIN PASSWORD '${ROLE}';
    END IF;
  END $$`;

/** Returns the URL with which a manager connects to the database of a run. */
export function managerUrl(url: string): string {
  const connection = new URL(url);
  connection.username = ROLE;
  connection.password = ROLE;
  return connection.href;
}

/** The part of a queue that changes jobs in transactions. The jobs are rows of a table of the test. */
const jobTable: PostgresRunOptions["queue"] = {
  enqueue: (transaction, jobs) => writeJobs(transaction, "added", jobs),
  complete: (transaction, jobs) => writeJobs(transaction, "ended", jobs),
};

async function writeJobs(transaction: RunTransaction | null, change: string, jobs: readonly MatchJob[]): Promise<void> {
  for (const { leagueId, matchId, epoch } of jobs) {
    const sql = "INSERT INTO test_jobs (change, league_id, match_id, epoch) VALUES ($1, $2, $3, $4)";
    await transaction?.query(sql, [change, leagueId, matchId, epoch]);
  }
}

/** Opens a run as a manager does. */
export const openRun = (
  url: string,
  options: Partial<Pick<PostgresRunOptions, "queue" | "maxCommits">> = {},
): Promise<PostgresRun> =>
  openPostgresRun({ url: managerUrl(url), queue: jobTable, clock: systemClock, ids: systemIds, ...options });

/** The run of a test, with the proxy through which its managers reach the database. */
export interface TestedPostgresRun extends TestedRun {
  /** The URL of the database without the proxy, for the owner of the tables. */
  readonly url: string;
  readonly proxy: FaultProxy;
  connect(): Promise<PostgresRun>;
}

export async function openTestedRun(server: PostgresServer): Promise<TestedPostgresRun> {
  const url = await createRun(server);
  const proxy = await openFaultProxy(url);
  const opened: PostgresRun[] = [];
  return {
    url,
    proxy,
    async connect() {
      const run = await openRun(proxy.url);
      opened.push(run);
      return run;
    },
    async jobs() {
      const rows = await execute(url, "SELECT change, league_id, match_id, epoch FROM test_jobs ORDER BY position");
      const changed = (change: keyof JobChanges): MatchJob[] =>
        rows
          .filter((row) => row.change === change)
          .map(({ league_id, match_id, epoch }) => {
            return { leagueId: String(league_id), matchId: String(match_id), epoch: Number(epoch) };
          });
      return { added: changed("added"), ended: changed("ended") };
    },
    cut: async () => proxy.cut(),
    restore: async () => proxy.restore(),
    loseNextCommit: (moment) => proxy.loseNextCommit(moment),
    async passTime(ms) {
      await execute(url, `UPDATE managers SET seen_at = seen_at - interval '${ms} milliseconds'`);
    },
    async close() {
      await Promise.all(opened.map((run) => run.close()));
      await proxy.close();
    },
  };
}
