import { expect, test } from "vitest";
import { played } from "../testing/results.ts";
import { busyStore } from "./testing/busy-store.ts";
import { startTestLeague } from "./testing/league.ts";

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

test("the time counts from the assignment, also across a restart, if a minute of it is left at the start", async () => {
  const league = await startTestLeague({ ...OVERDUE, timeouts: { match_ms: 200_000 } });
  await league.order("REF01", "R1M1");
  const begun = Date.parse(league.round()[0]?.assignedAt ?? "");
  await league.clock.advance(40_000);
  await league.restart();
  await league.clock.advance(begun + 199_000 - league.clock.now());
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  await league.clock.advance(1_000);
  await league.ledger().settled();
  expect(league.round()).toMatchObject([{ epoch: 2 }]);
});

test("a referee does not lose a match because the manager was down: it has a minute from the manager's start", async () => {
  const league = await startTestLeague({ ...OVERDUE, timeouts: { match_ms: 200_000 } });
  const order = await league.order("REF01", "R1M1");
  await league.restart(() => league.clock.advance(1_000_000));
  await league.clock.advance(59_000);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  expect(await league.report("REF01", played(order))).toMatchObject({ value: { status: "RECORDED" } });
});

test("a match that is not reported within a minute after the start is taken from its referee", async () => {
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
  expect(league.notices).toEqual(["rps cannot go on: database is locked"]);
  expect(league.round()).toMatchObject([{ epoch: 1 }]);
  store.isBusy = false;
  await league.eventually(() => expect(league.round()).toMatchObject([{ epoch: 2 }]));
});

test("a match that its referee never accepts is taken from it, and is not aborted for good", async () => {
  const league = await startTestLeague({ ...OVERDUE, referees: 1 });
  league.agent("REF01").answer = ({ type }) => (type === "START_GAME" ? "foreign" : "accepted");
  for (const epoch of [2, 3, 4, 5]) {
    await league.clock.advance(60_000);
    await league.eventually(() => expect(league.round()).toMatchObject([{ epoch, aborts: 0 }]));
  }
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
