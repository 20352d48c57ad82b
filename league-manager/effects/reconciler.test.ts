import { expect, test } from "vitest";
import { openLog } from "#shared/runtime/process/logger.ts";
import { startLeague } from "../commands/league-commands.ts";
import type { League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import { ALL_DUTIES, createFailures } from "./effects-context.ts";
import { Reconciler } from "./reconciler.ts";
import { startTestLeague } from "./testing/league.ts";

const ALL_JOBS = { workOf: (_: League, work: OpenWork) => work };

test("an error of one league is reported once and does not stop the others", async () => {
  const seedOf = ({ leagueId }: { leagueId: string }): string => {
    if (leagueId === "bad") throw new Error("no seed");
    return "seed";
  };
  const league = await startTestLeague({ leagues: ["bad", "rps"], effects: { seedOf } });
  const order = await league.order("REF01", "R1M1");
  expect(order.league_id).toBe("rps");
  await league.clock.advance(5_000);
  expect(league.notices).toEqual(["bad cannot continue: no seed"]);
  expect(league.league("bad").rounds.at(0)?.isAnnounced).toBe(true);
});

test("no pass takes place before the start, so that no commit is missed", async () => {
  const league = await startTestLeague({ players: 2, minPlayers: 3 });
  const { clock } = league;
  const failures = createFailures(openLog(null, "test"), () => {});
  const reconciler = new Reconciler({ ledger: league.ledger(), clock, failures, duties: ALL_DUTIES, jobs: ALL_JOBS });
  const reconciled: (readonly number[])[] = [];
  const part = {
    duty: "league" as const,
    reconcile: (_: League, work: OpenWork) => void reconciled.push([...work.roundsToAnnounce]),
    stop: async () => {},
  };
  reconciler.wake();
  await clock.nextTurn();
  expect(await league.ledger().execute(startLeague("rps", "seed"))).toMatchObject({ ok: true });
  reconciler.start([part]);
  await clock.nextTurn();
  expect(reconciled).toEqual([[1]]);
  await reconciler.stop();
});

test("a part that throws for one league is called for the other leagues, and for that league again in the next pass", async () => {
  const league = await startTestLeague({ leagues: ["bad", "rps"], players: 0, minPlayers: 2 });
  const { clock } = league;
  const notices: string[] = [];
  const failures = createFailures(openLog(null, "test"), (message) => notices.push(message));
  const reconciler = new Reconciler({ ledger: league.ledger(), clock, failures, duties: ALL_DUTIES, jobs: ALL_JOBS });
  const reconciled: string[] = [];
  const part = {
    duty: "league" as const,
    reconcile({ leagueId }: { leagueId: string }) {
      reconciled.push(leagueId);
      if (leagueId === "bad") throw new Error("broken");
    },
    stop: async () => {},
  };
  reconciler.start([part]);
  await clock.nextTurn();
  expect(reconciled).toEqual(["bad", "rps"]);
  // Several calls of `wake` in one turn cause one pass.
  for (let n = 0; n < 3; n++) reconciler.wake();
  await clock.nextTurn();
  expect(reconciled).toEqual(["bad", "rps", "bad", "rps"]);
  expect(notices).toEqual(["bad cannot continue: broken"]);
  // A pass takes place each second, because some work becomes due without an event.
  await clock.advance(999);
  expect(reconciled).toHaveLength(4);
  await clock.advance(1);
  await clock.nextTurn();
  expect(reconciled).toEqual(["bad", "rps", "bad", "rps", "bad", "rps"]);
  await reconciler.stop();
  reconciler.wake();
  await clock.nextTurn();
  expect(reconciled).toHaveLength(6);
});
