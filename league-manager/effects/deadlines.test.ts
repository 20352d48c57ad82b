import { expect, test } from "vitest";
import { played } from "../testing/results.ts";
import { busyStore } from "./testing/busy-store.ts";
import { startTestLeague } from "./testing/league.ts";

const OVERDUE = { timeouts: { match_ms: 60_000 }, referees: 2 } as const;

test("a match that is not completed in time is taken from its referee with MATCH_WITHDRAWN, even if the referee answers probes", async () => {
  const league = await startTestLeague({ ...OVERDUE, players: 4 });
  const [overdue, onTime] = [await league.order("REF01", "R1M1"), await league.order("REF02", "R1M2")];
  await league.report("REF02", played(onTime));
  await league.clock.advance(60_000);
  expect(await league.order("REF02", overdue.match_id, 2)).toMatchObject({ epoch: 2 });
  expect(league.round()).toMatchObject([{ aborts: 1 }, { aborts: 0, status: "completed" }]);
  await league.eventually(() => expect(league.agent("REF01").of("MATCH_WITHDRAWN")).toHaveLength(1));
});

test("the deadline counts from the assignment, even across a restart, if it ends at least a minute after the restart", async () => {
  const league = await startTestLeague({ ...OVERDUE, timeouts: { match_ms: 200_000 } });
  await league.order("REF01", "R1M1");
  const assignedAtMs = Date.parse(league.round()[0]?.assignedAt ?? "");
  await league.clock.advance(40_000);
  await league.restart();
  await league.clock.advance(assignedAtMs + 199_000 - league.clock.now());
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  await league.clock.advance(1_000);
  await league.ledger().settled();
  expect(league.round()).toMatchObject([{ epoch: 2 }]);
});

test("a match whose deadline passed while the manager was down can be reported for a minute after the restart", async () => {
  const league = await startTestLeague({ ...OVERDUE, timeouts: { match_ms: 200_000 } });
  const order = await league.order("REF01", "R1M1");
  await league.restart(() => league.clock.advance(1_000_000));
  await league.clock.advance(59_000);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  expect(await league.report("REF01", played(order))).toMatchObject({ value: { status: "RECORDED" } });
});

test("a match whose deadline passed while the manager was down is taken from its referee a minute after the restart", async () => {
  const league = await startTestLeague({ ...OVERDUE, timeouts: { match_ms: 200_000 } });
  await league.order("REF01", "R1M1");
  await league.restart(() => league.clock.advance(1_000_000));
  await league.clock.advance(59_000);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  await league.clock.advance(1_000);
  await league.ledger().settled();
  expect(league.round()).toMatchObject([{ epoch: 2 }]);
});

test("a release that could not be stored is repeated", async () => {
  const store = busyStore();
  const league = await startTestLeague({ ...OVERDUE, ledger: store.ledger });
  await league.order("REF01", "R1M1");
  store.isBusy = true;
  await league.clock.advance(60_000);
  expect(league.notices).toEqual(["rps waits: database is locked"]);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  store.isBusy = false;
  await league.eventually(() => expect(league.round()).toMatchObject([{ epoch: 2 }]));
});

test("a match that no referee accepts is released again and again, and never counts as aborted", async () => {
  const league = await startTestLeague({ ...OVERDUE, referees: 1 });
  league.agent("REF01").answer = ({ type }) => (type === "START_GAME" ? "foreign" : "accepted");
  for (const epoch of [2, 3, 4, 5]) {
    await league.clock.advance(60_000);
    await league.eventually(() => expect(league.round()).toMatchObject([{ epoch, aborts: 0 }]));
  }
});

test("a change of the system clock does not end a match", async () => {
  const league = await startTestLeague(OVERDUE);
  await league.order("REF01", "R1M1");
  league.clock.setDate(league.clock.now() + 1_000_000_000);
  await league.clock.advance(30_000);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
});

test("a match that is overdue three times is completed as aborted", async () => {
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
