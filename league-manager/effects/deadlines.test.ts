import { expect, test } from "vitest";
import { startTestLeague } from "./testing-league.ts";
import { played } from "./testing-results.ts";

const OVERDUE = { timeouts: { match_ms: 60_000 }, referees: 2 } as const;

test("a referee that answers its probes and does not end a match in time loses it, and is informed", async () => {
  const league = await startTestLeague({ ...OVERDUE, players: 4 });
  const [late, done] = [await league.order("REF01", "R1M1"), await league.order("REF02", "R1M2")];
  await league.report("REF02", played(done));
  await league.clock.advance(60_000);
  expect(await league.order("REF02", late.match_id, 2)).toMatchObject({ epoch: 2 });
  expect(league.round()).toMatchObject([{ aborts: 1 }, { aborts: 0, status: "completed" }]);
  await league.eventually(() => expect(league.agent("REF01").of("MATCH_WITHDRAWN")).toHaveLength(1));
});

test("the time counts from the assignment, also across a restart", async () => {
  const league = await startTestLeague(OVERDUE);
  await league.order("REF01", "R1M1");
  await league.clock.advance(40_000);
  await league.restart();
  await league.clock.advance(10_000);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  await league.clock.advance(10_000);
  await league.ledger().settled();
  expect(league.round()).toMatchObject([{ epoch: 2 }]);
});

test("a change of the machine's date does not end a match", async () => {
  const league = await startTestLeague(OVERDUE);
  await league.order("REF01", "R1M1");
  league.clock.setDate(league.clock.now() + 1_000_000_000);
  await league.clock.advance(30_000);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
});

test("a match that is overdue three times is aborted for good", async () => {
  const league = await startTestLeague(OVERDUE);
  for (const [refereeId, epoch] of [
    ["REF01", 1],
    ["REF02", 2],
    ["REF01", 3],
  ] as const) {
    await league.order(refereeId, "R1M1", epoch);
    await league.clock.advance(60_000);
  }
  await league.eventually(() => expect(league.league().status).toBe("completed"));
  expect(league.round()).toMatchObject([
    { outcome: { termination: "aborted", reason: expect.stringContaining("in time") } },
  ]);
});
