import { systemIds } from "#shared/lib/ids.ts";
import type { StreamAppend } from "#shared/store/event-log.ts";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import { AT } from "../../../league-manager/league/testing/leagues.ts";
import type { Write } from "../../../league-manager/ledger.ts";
import { createRun, openRun } from "../../../league-manager/postgres/testing/postgres-runs.ts";
import { completedMatches } from "../format.ts";
import { readingRun } from "../stored-run.ts";

/** Copies the store of a run into a new PostgreSQL database. Resolves with its URL. */
export async function copiedToDatabase(storeFile: string): Promise<string> {
  const url = await createRun(await sharedPostgres());
  const database = await openRun(url);
  await readingRun(storeFile, async ({ store, leagues, runId, seed }) => {
    const appends: StreamAppend[] = [];
    for (const stream of await store.streams("")) {
      const events = (await store.readEvents(stream)).map(({ type, body }) => ({ type, body }));
      appends.push({ stream, expectedVersion: 0, events });
    }
    const profiles = await store.loadProfiles();
    const writes: Write[] = [...profiles].map(([agentId, profile]) => ({ type: "profile", agentId, profile }));
    for (const { league } of leagues) {
      const { leagueId } = league;
      for (const { matchId } of completedMatches(league)) {
        const recorded = await store.sessionLogOf(leagueId, matchId);
        if (!recorded) continue;
        const { epoch, seed: seedOfMatch, log } = recorded;
        writes.push({ type: "session_log", leagueId, matchId, epoch, seed: seedOfMatch, log });
      }
    }
    const jobs = { added: [], ended: [] };
    await database.transact(0, () => ({ id: systemIds.uuid(), at: AT, appends, writes, jobs }));
    await database.initMeta("run_id", runId);
    await database.initMeta("seed", seed);
  });
  await database.close();
  return url;
}
