import { Command } from "commander";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { startPostgres } from "#shared/store/testing/postgres-server.ts";
import type { Write } from "../../league-manager/ledger.ts";
import type { MatchJob } from "../../league-manager/match-queue.ts";
import { openJobQueue } from "../../league-manager/postgres/job-queue.ts";
import { openPostgresRun, type PostgresRun } from "../../league-manager/postgres/postgres-run.ts";
import type { NewCommit } from "../../league-manager/shared-run/run-database.ts";
import { createDatabase } from "../cluster/database.ts";

/**
 * `node scripts/bench/database-commits.ts`: how many matches per second the database of a run takes, without managers, referees and players. Writers
 * commit what managers commit for a match: its assignment, its result, a log of 4 kB, the end of its job and the job of another match.
 */
const { managers, seconds } = withUsageExit(new Command("commits"))
  .option("--managers <n>", "writers, each with the connections of a manager", countOption, 3)
  .option("--seconds <n>", "duration of each measurement", countOption, 10)
  .parse()
  .opts<{ managers: number; seconds: number }>();

/** The numbers of matches in a commit. A manager has up to 100 commands in a commit, two for each match. */
const BATCHES = [1, 5, 25, 50];
const LOG = Array.from({ length: 20 }, (_, index) => `{"seq":${index},"text":"${"x".repeat(180)}"}`);

/** Commits matches of its own league. */
class Writer {
  readonly #run: PostgresRun;
  readonly #leagueId: string;
  #number = 0;
  #version = 0;
  /** The jobs of the last commit, which the next one ends. */
  #jobs: readonly MatchJob[] = [];

  constructor(run: PostgresRun, index: number) {
    this.#run = run;
    this.#leagueId = `league-${index}-${systemIds.uuid()}`;
  }

  async commit(matches: number): Promise<void> {
    await this.#run.transact(this.#number, ({ number }) => {
      this.#number = number + 1;
      return this.#commitOf(matches);
    });
    this.#version += 2 * matches;
  }

  #commitOf(matches: number): NewCommit {
    const ids = Array.from({ length: matches }, (_, index) => `R1M${this.#version + index + 1}`);
    const common = { leagueId: this.#leagueId, epoch: 1 };
    const eventOf = (type: string) => (id: string) => ({
      type,
      body: JSON.stringify({ v: 1, type, match_id: id, players: ["P01", "P02"], text: "x".repeat(200) }),
    });
    const events = [...ids.map(eventOf("match_assigned")), ...ids.map(eventOf("match_completed"))];
    const ended = this.#jobs;
    this.#jobs = ids.map((matchId) => ({ ...common, matchId }));
    return {
      id: systemIds.uuid(),
      at: systemClock.iso(),
      appends: [{ stream: `league/${this.#leagueId}`, expectedVersion: this.#version, events }],
      writes: ids.map((matchId): Write => ({ type: "session_log", ...common, matchId, seed: "seed", log: LOG })),
      jobs: { added: this.#jobs, ended },
    };
  }
}

const server = await startPostgres();
try {
  const database = await createDatabase(server);
  const url = database.urlAt(database.port);
  const open = async (_: unknown, index: number) => {
    const queue = await openJobQueue({
      url,
      clock: systemClock,
      onError: (thrown) => process.stderr.write(`${thrown}\n`),
    });
    const run = await openPostgresRun({ url, queue, clock: systemClock, ids: systemIds });
    return { queue, run, writer: new Writer(run, index) };
  };
  const opened = await Promise.all(Array.from({ length: managers }, open));
  for (const batch of BATCHES) {
    const begun = performance.now();
    let commits = 0;
    const write = async (writer: Writer): Promise<void> => {
      while (performance.now() - begun < seconds * 1_000) {
        await writer.commit(batch);
        commits++;
      }
    };
    await Promise.all(opened.map(({ writer }) => write(writer)));
    const passed = (performance.now() - begun) / 1_000;
    const rates = [commits / passed, (commits * batch) / passed].map((rate) => Math.round(rate));
    process.stdout.write(
      `${managers} writers, ${batch} matches in a commit: ${rates[0]} commits/s, ${rates[1]} matches/s\n`,
    );
  }
  await Promise.all(opened.flatMap(({ run, queue }) => [run.close(), queue.close()]));
} finally {
  await server.stop();
}
process.exit();
