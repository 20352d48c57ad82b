import { counted } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import { type Connection, inTransaction } from "#shared/store/postgres/connection.ts";
import { assertSchema } from "#shared/store/postgres/migrations.ts";
import {
  appendOnlyTables,
  type CheckedLog,
  checkLog,
  triggerFaults,
} from "#shared/store/postgres/postgres-event-log.ts";
import { rightFaults, writers } from "#shared/store/postgres/rights.ts";
import { LOST_MATCHES, MATCHES } from "../../league-manager/postgres/job-queue.ts";
import { MIGRATIONS } from "../../league-manager/postgres/run-migrations.ts";
import { requireDatabase, withDatabase } from "./open.ts";

const MAX_SHOWN = 20;

/** One snapshot for all queries, so that a running league can be checked. */
const BEGIN = `
  SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = 0`;

const SELECT_COMMITS = `
  SELECT count(*) AS count, coalesce(max(number), 0) AS last,
    coalesce((SELECT max(commit_number) FROM log), 0) AS "lastOfLog" FROM commits`;

/**
 * `league db check`: prints what it has checked. Resolves with 0 for a sound database. Rejects with StartError, with a
 * line for each of the first faults.
 */
export async function checkDatabase(flags: { readonly database?: string }): Promise<number> {
  return withDatabase(requireDatabase(flags.database), ({ pool }) =>
    inTransaction(pool, async (client) => {
      await client.query(BEGIN);
      await assertSchema(client, MIGRATIONS);
      const appendOnly = appendOnlyTables(MIGRATIONS);
      const roles = await writers(client);
      const log = await checkLog(client);
      const commits = await checkCommits(client);
      const faults = [
        ...(await triggerFaults(client, appendOnly)),
        ...(await rightFaults(client, roles, appendOnly)),
        ...commits.faults,
        ...(await queueFaults(client)),
        ...log.faults,
      ];
      if (faults.length > 0) throw unsound(faults);
      process.stdout.write(`${summary(appendOnly, roles, log, commits.count).join("\n")}\n`);
      return EXIT.ok;
    }),
  );
}

/** Checks that the numbers of commits have no gaps, and that each event belongs to a commit. */
async function checkCommits(
  client: Connection,
): Promise<{ readonly count: number; readonly faults: readonly string[] }> {
  const { rows } = await client.query<{ count: number; last: number; lastOfLog: number }>(SELECT_COMMITS);
  const [{ count, last, lastOfLog } = { count: 0, last: 0, lastOfLog: 0 }] = rows;
  const faults = [
    ...(count === last ? [] : [`${counted(last - count, "commit is", "commits are")} missing in the table commits`]),
    ...(lastOfLog <= last ? [] : [`the log has events of commit ${lastOfLog}, but the last commit is ${last}`]),
  ];
  return { count, faults };
}

/** Returns one sentence for each queue of pg-boss that does not exist. */
async function queueFaults(client: Connection): Promise<readonly string[]> {
  const { rows } = await client.query("SELECT to_regclass('pgboss.queue') IS NOT NULL AS found");
  const queues = rows[0].found ? await client.query("SELECT name FROM pgboss.queue") : { rows: [] };
  const missing = [MATCHES, LOST_MATCHES].filter((queue) => !queues.rows.some(({ name }) => name === queue));
  return missing.map((queue) => `the queue ${queue} does not exist: run ${LEAGUE_COMMAND} db migrate`);
}

function unsound(faults: readonly string[]): StartError {
  const more = faults.length > MAX_SHOWN ? [`and ${counted(faults.length - MAX_SHOWN, "further fault")}`] : [];
  return new StartError(["the database is not sound:", ...faults.slice(0, MAX_SHOWN), ...more].join("\n"));
}

const summary = (
  appendOnly: readonly string[],
  roles: readonly string[],
  { streams, events }: CheckedLog,
  commits: number,
): readonly string[] => [
  `version of the tables: ${MIGRATIONS.length}`,
  `append-only tables: ${appendOnly.join(", ")}; their triggers reject changes`,
  roles.length === 0
    ? `roles without the right to change them: none; create one with ${LEAGUE_COMMAND} db migrate --role NAME`
    : `roles without the right to change them: ${roles.join(", ")}`,
  `log: ${counted(events, "event")} of ${counted(streams, "stream")} in ${counted(commits, "commit")}, without gaps; every hash is correct`,
  "the database is sound",
];
