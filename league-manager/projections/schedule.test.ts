import { describe, expect, test } from "vitest";
import { playerId } from "#shared/lib/ids.ts";
import type { League } from "../league/league.ts";
import { afterCommands, running, SETTINGS } from "../league/testing/leagues.ts";
import { MAX_SCHEDULE_MATCHES, scheduleOf, scheduleOfAll, scheduleOfRound } from "./schedule.ts";

const leagueOf = (players: number, leagueId = "rps"): League => {
  const ids = Array.from({ length: players }, (_, index) => playerId(index + 1));
  return afterCommands(running(ids, { ...SETTINGS, leagueId })).league;
};
const roundIds = (schedule: { readonly schedule: readonly { readonly round_id: number }[] }): readonly number[] => [
  ...new Set(schedule.schedule.map(({ round_id }) => round_id)),
];

describe("the schedule of a league", () => {
  test("is complete up to 1,000 matches", () => {
    const league = leagueOf(45);
    expect(league.matchCount).toBeLessThanOrEqual(MAX_SCHEDULE_MATCHES);
    const shown = scheduleOf(league);
    expect(shown.schedule).toHaveLength(league.matchCount);
    expect(Object.keys(shown)).toEqual(["schedule", "byes"]);
    expect(Object.keys(scheduleOf(leagueOf(4)))).toEqual(["schedule"]);
  });

  test("of more than 1,000 matches has the current and the adjacent rounds, with counts and the URI template of the other rounds", () => {
    const league = leagueOf(46);
    const { schedule, ...summary } = scheduleOf(league);
    expect(roundIds({ schedule })).toEqual([1, 2]);
    expect(summary).toEqual({
      truncated: true,
      total: 1_035,
      completed: 0,
      rounds: 45,
      current_round: 1,
      rest: "league://{league_id}/schedule/{round_id}",
    });
    expect(roundIds(scheduleOf({ ...league, currentRound: 20 }))).toEqual([19, 20, 21]);
    expect(roundIds(scheduleOf({ ...league, currentRound: null }))).toEqual([44, 45]);
  });

  test("can be read by rounds, each of which is complete", () => {
    const league = leagueOf(46);
    const rounds = league.rounds.map(({ roundId }) => scheduleOfRound(league, roundId));
    expect(rounds.every((round) => round?.truncated === undefined && round?.schedule.length === 23)).toBe(true);
    for (const unknown of [0, 46, 1.5, Number.NaN]) expect(scheduleOfRound(league, unknown)).toBeNull();
  });
});

test("a schedule lists the byes of its rounds", () => {
  const byes = [
    { league_id: "rps", round_id: 1, players: ["P01"] },
    { league_id: "rps", round_id: 2, players: ["P03"] },
    { league_id: "rps", round_id: 3, players: ["P02"] },
  ];
  expect(scheduleOf(leagueOf(3)).byes).toEqual(byes);
  expect(scheduleOfRound(leagueOf(3), 2)?.byes).toEqual([byes[1]]);
  expect(scheduleOfAll([leagueOf(4, "even"), leagueOf(3)]).byes).toEqual(byes);
});

test("the schedule of all leagues is truncated if they have more than 1,000 matches in total", () => {
  const [small, large] = [leagueOf(30, "a"), leagueOf(40, "b")];
  expect(scheduleOfAll([small]).schedule).toHaveLength(435);
  const { schedule, ...summary } = scheduleOfAll([small, large]);
  expect(schedule).toHaveLength(2 * 15 + 2 * 20);
  expect(summary).toMatchObject({ truncated: true, total: 435 + 780 });
});
