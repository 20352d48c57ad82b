import { expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import type { Decide } from "../ledger.ts";
import { openTestedRun } from "../postgres/testing/postgres-runs.ts";
import { loadState } from "../store/manager-state.ts";
import { entered, LEAGUE_IDS, openLeague } from "../store/testing/ledger.ts";
import { loadSharedState, SharedLedger } from "./shared-ledger.ts";

/** Enters the next player of the league. */
const enterNext: Decide<string> = ({ leagues }) => {
  const id = `P${(leagues.get("first")?.entrants.size ?? 0) + 1}`;
  return ok({ leagueEvents: [{ leagueId: "first", event: entered(id) }], reply: id });
};

test("three managers on PostgreSQL execute each command once while connections are lost at commits", async () => {
  const run = await openTestedRun(await sharedPostgres());
  const fatal: Error[] = [];
  const ledgers = await Promise.all(
    [1, 2, 3].map(async () => {
      const database = await run.connect();
      const loaded = await loadSharedState(database, LEAGUE_IDS);
      const onFatal = (error: Error): void => void fatal.push(error);
      return new SharedLedger({ database, loaded, clock: systemClock, ids: systemIds, leagueIds: LEAGUE_IDS, onFatal });
    }),
  );
  await ledgers[0]?.execute(openLeague("first"));
  const answers: (Result<string, ProtocolError> | undefined)[] = [];
  for (let n = 0; n < 20; n++) {
    if (n % 4 === 0) run.loseNextCommit(n % 8 === 0 ? "before" : "after");
    answers.push(...(await Promise.all(ledgers.flatMap((ledger) => [1, 2].map(() => ledger.execute(enterNext))))));
  }
  const replies = answers.map((answer) => (answer?.ok ? answer.value : null));
  const all = Array.from({ length: 120 }, (_, n) => `P${n + 1}`);
  expect(replies.sort()).toEqual(all.sort());
  await expect.poll(() => ledgers.map(({ state }) => state.leagues.get("first")?.version)).toEqual([121, 121, 121]);
  const stored = await loadState(await run.connect(), LEAGUE_IDS);
  for (const { state } of ledgers) expect(state).toEqual(stored.state);
  expect(fatal).toEqual([]);
  await Promise.all(ledgers.map((ledger) => ledger.stop()));
  await run.close();
});
