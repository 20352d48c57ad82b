import { expect, test } from "vitest";
import type { Agent } from "../../agents/registered-agent.ts";
import type { League, Match } from "../../league/league.ts";
import { KeptJobs } from "./match-assignment.ts";

const refereeOf = (game: string) => ({ id: game, gameTypes: [game] }) as unknown as Agent;
const leagueOf = (game: string) => ({ game }) as League;
const SCHEDULED = { status: "scheduled" } as Match;
const ASSIGNED = { status: "assigned" } as Match;

/** The choice of a manager that the referees `up` answer, each of one game and with two free places. */
function keptJobs(up: readonly string[], registered: readonly string[]): KeptJobs {
  const dispatch = {
    freeCapacity: () => new Map(up.map((game) => [game, 2])),
    turns: () => ({ isTurnOf: () => true }),
  };
  const referees = {
    up: () => up.map(refereeOf),
    registered: () => registered.map(refereeOf),
    eligible:
      ({ game }: League, candidates: readonly Agent[]) =>
      () =>
        new Set(candidates.filter(({ gameTypes }) => gameTypes.includes(game))),
  };
  return new KeptJobs(dispatch as unknown as ConstructorParameters<typeof KeptJobs>[0], referees);
}

test("a manager that no referee answers takes no jobs and keeps none", () => {
  const kept = keptJobs([], ["rps.v1"]);
  expect(kept.slots([])).toBe(0);
  expect([SCHEDULED, ASSIGNED].map((match) => kept.keeps()(leagueOf("rps.v1"), match))).toEqual([false, false]);
});

test("a manager keeps the jobs of assigned matches, and of matches that its referees or no referees can play", () => {
  const keeps = keptJobs(["rps.v1"], ["rps.v1", "chess.v1"]).keeps();
  const games = ["rps.v1", "chess.v1", "connect_four.v1"];
  expect(games.map((game) => keeps(leagueOf(game), SCHEDULED))).toEqual([true, false, true]);
  expect(games.map((game) => keeps(leagueOf(game), ASSIGNED))).toEqual([true, true, true]);
});

test("only the matches that its referees can play count as jobs of a manager", () => {
  const kept = keptJobs(["rps.v1"], ["rps.v1", "chess.v1"]);
  const waiting = ["rps.v1", "chess.v1", "chess.v1"].map((game) => [leagueOf(game), SCHEDULED] as const);
  expect([kept.slots([]), kept.slots(waiting)]).toEqual([18, 17]);
});
