import { describe, expect, it } from "vitest";
import type { LeagueEvent } from "./events.ts";
import { evolveLeague, matchOf } from "./evolve.ts";
import type { League, NewLeagueEvent } from "./league.ts";
import { afterCommands, assign, played, running, stored } from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];
const scheduled = afterCommands(running(PLAYERS)).league;
const assigned = afterCommands([...running(PLAYERS), assign("R1M1")]).league;
const completed = afterCommands(played(running(PLAYERS), "R1M1")).league;
const match = { match_id: "R1M1", epoch: 1, referee_id: "REF01" };

const following = (league: League, ...events: readonly NewLeagueEvent[]): League =>
  events.reduce((before: League, event) => evolveLeague(before, stored(event)), league);
type ReleaseReason = Extract<LeagueEvent, { type: "match_released" }>["reason"];
const released = (reason: ReleaseReason, referee_id = "REF01", epoch = 1): NewLeagueEvent => ({
  type: "match_released",
  match_id: "R1M1",
  epoch,
  referee_id,
  reason,
  detail: "",
});
const aborted = (referee_id: string | null, epoch = 1): NewLeagueEvent => ({
  type: "match_aborted",
  match_id: "R1M1",
  epoch,
  referee_id,
  reason: "failed",
  log_head: "",
});
const annulled = (match_points: Readonly<Record<string, number>> | undefined): NewLeagueEvent => ({
  type: "match_annulled",
  match_id: "R1M1",
  epoch: 1,
  reason: "cheating",
  ...(match_points && { match_points }),
});
const forfeitWithLog: NewLeagueEvent = {
  type: "match_completed",
  ...match,
  referee_id: null,
  termination: "forfeit",
  reason: "shut_down",
  winner: null,
  final_scores: {},
  match_points: {},
  faults: [],
  log_head: "h",
};
const points = matchOf(completed, "R1M1")?.outcome?.points;

/** Events that cannot follow. A forged log may contain them. */
const FORGED: readonly (readonly [string, League, NewLeagueEvent, RegExp])[] = [
  ["a release from another referee", assigned, released("overdue", "REF02"), /not assigned to REF02/],
  ["an abort by the manager before the match is assigned", scheduled, aborted(null), /R1M1 is not assigned$/],
  ["an abort by another referee", assigned, aborted("REF02"), /not assigned to REF02/],
  ["a forfeit by the manager with a log", scheduled, forfeitWithLog, /result without a referee/],
  ["an annulment with other points", completed, annulled({ P02: 1, P03: 1 }), /annulled with other points/],
  ["an annulment of a result without its points", completed, annulled(undefined), /annulled with other points/],
  ["an annulment with points before the result", assigned, annulled({ P02: 3, P03: 0 }), /annulled with other points/],
  [
    "a cancellation of a completed match",
    following(completed, { type: "pairing_completed" }),
    { type: "match_cancelled", match_id: "R1M1", epoch: 1 },
    /cannot be cancelled now/,
  ],
];

it.each(FORGED)("evolveLeague throws on %s", (_, before, event, message) => {
  expect(() => evolveLeague(before, stored(event))).toThrow(message);
});

describe("a match", () => {
  it("counts aborts and matches that took too long, not other releases", () => {
    const abortsAfter = (...events: readonly NewLeagueEvent[]) =>
      matchOf(following(assigned, ...events), "R1M1")?.aborts;
    expect(abortsAfter(released("unreachable"))).toBe(0);
    expect(abortsAfter(released("refused"))).toBe(0);
    expect(abortsAfter(released("overdue"))).toBe(1);
    expect(abortsAfter(released("aborted"))).toBe(1);
    expect(abortsAfter(aborted("REF01"))).toBe(1);
    const again: NewLeagueEvent = { type: "match_assigned", ...match, epoch: 2 };
    expect(abortsAfter(released("overdue"), again, aborted("REF01", 2))).toBe(2);
  });

  it("that is taken from its referee is withdrawn and occupies it, unless the referee has aborted it", () => {
    const withdrawal = { matchId: "R1M1", epoch: 1, refereeId: "REF01" };
    for (const event of [released("overdue"), released("unreachable"), aborted(null), annulled(undefined)]) {
      const league = following(assigned, event);
      expect([league.withdrawals, [...league.occupied]], event.type).toEqual([[withdrawal], [["REF01", 1]]]);
    }
    for (const event of [released("aborted"), aborted("REF01")]) {
      const league = following(assigned, event);
      expect([league.withdrawals, [...league.occupied]], event.type).toEqual([[], []]);
    }
  });

  it("that is annulled after its result is not withdrawn, gives no points and is counted", () => {
    expect(points).toEqual([3, 0]);
    const league = following(completed, annulled({ P02: 3, P03: 0 }));
    expect([league.withdrawals, league.annulledCount, league.completedCount]).toEqual([[], 1, 1]);
    expect(matchOf(league, "R1M1")).toMatchObject({ outcome: { reason: "annulled", points: [] }, refereeId: null });
  });

  it("that is withdrawn is settled by its referee and its epoch only", () => {
    const first = following(assigned, released("overdue"), {
      type: "match_assigned",
      ...match,
      epoch: 2,
      referee_id: "REF02",
    });
    const league = following(first, released("overdue", "REF02", 2));
    const settle = (change: object): NewLeagueEvent => ({ type: "withdrawal_settled", ...match, ...change });
    for (const change of [{ epoch: 2 }, { referee_id: "REF02" }, { match_id: "R2M1" }])
      expect(() => following(league, settle(change))).toThrow(/is not withdrawn/);
    expect(league.withdrawals).toHaveLength(2);
    expect(following(league, settle({})).withdrawals).toEqual([{ matchId: "R1M1", epoch: 2, refereeId: "REF02" }]);
  });
});
