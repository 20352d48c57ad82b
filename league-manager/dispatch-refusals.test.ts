import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { openLog } from "#shared/runtime/logger.ts";
import type { Dispatcher } from "./dispatch.ts";
import type { Match } from "./league.ts";
import { matchesOfRound, startDispatcher, startReferee } from "./testing-dispatch.ts";

describe("a referee that answers its probes and takes no match", () => {
  test("loses its matches to the others, is informed of that, and gets none while there are others", async () => {
    const bad = await startReferee("REF01", 2);
    bad.answer = "foreign";
    const good = await startReferee("REF02", 2);
    const dispatcher = startDispatcher([bad, good]);
    const two = matchesOfRound(2);
    dispatcher.enqueue(two);
    await vi.waitFor(() => expect(two.map(({ refereeId }) => refereeId)).toEqual(["REF02", "REF02"]), 5_000);
    await vi.waitFor(() => expect(good.orders).toHaveLength(2));
    expect(two.map(({ epoch }) => epoch)).toEqual([2, 1]);
    expect(dispatcher.refusals).toEqual(["REF01: foreign"]);
    const asked = bad.orders.length;
    dispatcher.release(two[0] as Match);
    const [next] = matchesOfRound(1);
    dispatcher.enqueue([next as Match]);
    expect(next?.refereeId).toBe("REF02");
    // The last message that it receives says that the match is not its own.
    await vi.waitFor(() => expect(bad.orders.at(-1)).toEqual({ league_id: "rps", match_id: "R1M1", epoch: 1 }));
    expect(bad.orders.length).toBeLessThanOrEqual(asked + 1);
  });

  test("keeps, and gets, the matches of a game that no other referee plays", async () => {
    const bad = await startReferee("REF01", 2);
    bad.answer = "foreign";
    const other = await startReferee("REF02", 2);
    const dispatcher = startDispatcher([bad, { ...other, agent: { ...other.agent, gameTypes: ["chess.v1"] } }]);
    const [first, second] = matchesOfRound(2) as [Match, Match];
    dispatcher.enqueue([first]);
    await vi.waitFor(() => expect(dispatcher.refusals).toEqual(["REF01: foreign"]), 5_000);
    dispatcher.enqueue([second]);
    expect([first, second].map(({ refereeId, epoch }) => [refereeId, epoch])).toEqual([
      ["REF01", 1],
      ["REF01", 1],
    ]);
    expect(other.orders).toEqual([]);
  });

  test("keeps its match if there is no other referee", async () => {
    const bad = await startReferee("REF01", 2);
    bad.answer = "foreign";
    const dispatcher = startDispatcher([bad]);
    const [only] = matchesOfRound(1);
    dispatcher.enqueue([only as Match]);
    await vi.waitFor(() => expect(dispatcher.refusals).toEqual(["REF01: foreign"]), 5_000);
    expect(only).toMatchObject({ refereeId: "REF01", epoch: 1, status: "assigned" });
  });
});

test("an answer to START_GAME that is no envelope is explained, in the log too", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dispatch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = openLog(join(folder, "manager.log"), "manager");
  const referee = await startReferee("REF01", 2);
  referee.answer = "plain";
  const dispatcher = startDispatcher([referee], { log, refusalsMs: 0 });
  dispatcher.enqueue(matchesOfRound(1));
  await vi.waitFor(() => expect(dispatcher.refusals).toHaveLength(1), 5_000);
  const why = /not a league\.v2 envelope.*; START_GAME takes an envelope of type START_GAME_RESPONSE as its answer/;
  expect(dispatcher.refusals[0]).toMatch(why);
  await log.flushed(systemClock);
  const [line = "{}"] = readFileSync(join(folder, "manager.log"), "utf8").split("\n");
  const logged = { match: "rps/R1M1", referee: "REF01", why: expect.stringMatching(why) };
  expect(JSON.parse(line)).toMatchObject({ ...logged, answer: { raw: expect.stringContaining("ACCEPTED") } });
});

/** Hands out `count` further matches; returns the referee of each. */
const givenTo = (dispatcher: Dispatcher, count: number): (string | null)[] => {
  const given = matchesOfRound(count);
  dispatcher.enqueue(given);
  return given.map(({ refereeId }) => refereeId);
};

describe("a referee that took no match for a while", () => {
  test("is offered one match, and gets its share again once it has accepted that match", async () => {
    const late = await startReferee("REF01", 10_000);
    const good = await startReferee("REF02", 10_000);
    late.answer = "busy";
    const dispatcher = startDispatcher([late, good], { unfitMs: 1_500 });
    const [match] = matchesOfRound(1) as [Match];
    dispatcher.enqueue([match]);
    await vi.waitFor(() => expect(match.refereeId).toBe("REF02"), 5_000);
    expect(dispatcher.refusals).toEqual(["REF01: HTTP 503"]);
    expect(givenTo(dispatcher, 3)).toEqual(["REF02", "REF02", "REF02"]);
    late.answer = "accepted";
    // Three matches, two of which it would get if it were fit.
    const trial = await vi.waitFor(() => {
      const given = givenTo(dispatcher, 3);
      expect(given).toContain("REF01");
      return given;
    }, 5_000);
    expect(trial).toEqual(["REF01", "REF02", "REF02"]);
    await late.accepted;
    await vi.waitFor(() => expect(givenTo(dispatcher, 4)).toEqual(["REF01", "REF02", "REF01", "REF02"]), 5_000);
  });

  test("loses the match that it is offered when it refuses again, and is offered no other at first", async () => {
    const bad = await startReferee("REF01", 10_000);
    const good = await startReferee("REF02", 10_000);
    bad.answer = "busy";
    const dispatcher = startDispatcher([bad, good], { unfitMs: 1_500 });
    const [first] = matchesOfRound(1) as [Match];
    dispatcher.enqueue([first]);
    await vi.waitFor(() => expect(first.refereeId).toBe("REF02"), 5_000);
    const offered = await vi.waitFor(() => {
      const [next] = matchesOfRound(1) as [Match];
      dispatcher.enqueue([next]);
      expect(next.refereeId).toBe("REF01");
      return next;
    }, 5_000);
    await vi.waitFor(() => expect(offered.refereeId).toBe("REF02"), 5_000);
    expect(givenTo(dispatcher, 2)).toEqual(["REF02", "REF02"]);
    expect(dispatcher.refusals).toEqual(["REF01: HTTP 503"]);
  });
});

describe("a referee that is full", () => {
  test("loses a match to one that has a place, and is as fit as before", async () => {
    const full = await startReferee("REF01", 10_000);
    const other = await startReferee("REF02", 10_000);
    full.answer = "full";
    const dispatcher = startDispatcher([full, other]);
    const [match] = matchesOfRound(1) as [Match];
    dispatcher.enqueue([match]);
    await vi.waitFor(() => expect(match).toMatchObject({ refereeId: "REF02", epoch: 2 }), 5_000);
    expect(dispatcher.refusals).toEqual([]);
    expect(givenTo(dispatcher, 2)).toEqual(["REF01", "REF02"]);
  });

  test("keeps a match while the others are full too, and plays it as soon as it can", async () => {
    const full = await startReferee("REF01", 10_000);
    const other = await startReferee("REF02", 1);
    full.answer = "full";
    const dispatcher = startDispatcher([full, other], { refusalsMs: 0 });
    const [first, second] = matchesOfRound(2) as [Match, Match];
    dispatcher.enqueue([first, second]);
    await vi.waitFor(() => expect(full.orders.length).toBeGreaterThan(2), 5_000);
    full.answer = "accepted";
    await full.accepted;
    expect(first).toMatchObject({ refereeId: "REF01", epoch: 1 });
    expect(second).toMatchObject({ refereeId: "REF02", epoch: 1 });
  });
});
