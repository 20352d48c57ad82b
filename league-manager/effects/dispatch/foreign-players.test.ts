import { expect, test } from "vitest";
import { assignMatch, releaseMatch } from "../../commands/matches.ts";
import { openRound } from "../../commands/rounds.ts";
import { givenState, startedLeague, stateAfter } from "../../commands/testing/commands.ts";
import { matchOf } from "../../league/evolve.ts";
import type { League, Match } from "../../league/league.ts";
import type { ManagerState } from "../../ledger.ts";
import { isTurnOf } from "./foreign-players.ts";

const assign = (leagueId: string, epoch = 1) => assignMatch({ leagueId, matchId: "R1M1", epoch, refereeId: "REF01" });

/** Two leagues of the same two players, whose matches are assigned at the same time. */
const both = stateAfter([
  ...startedLeague("rps", 2),
  ...startedLeague("b", 2),
  openRound("rps", 1),
  openRound("b", 1),
  assign("rps"),
  assign("b"),
]);
const withDialect = (state: ManagerState, id: string, dialect: string): ManagerState => {
  const agent = state.agents.get(id);
  if (!agent) throw new Error(`no ${id}`);
  return { ...state, agents: new Map(state.agents).set(id, { ...agent, dialect }) };
};
const turns = (state: ManagerState): readonly boolean[] =>
  ["rps", "b"].map((leagueId) => isTurnOf(state, leagueId, matchIn(state, leagueId)));
const matchIn = (state: ManagerState, leagueId: string): Match =>
  matchOf(state.leagues.get(leagueId) as League, "R1M1") as Match;

test("players of the native dialect have matches of several leagues at the same time", () => {
  expect(turns(both)).toEqual([true, true]);
});

test("a player of another dialect has one match at a time, the next when the first is no longer assigned", () => {
  const state = withDialect(both, "P02", "league.v1");
  expect(turns(state)).toEqual([false, true]);
  const release = releaseMatch({ leagueId: "b", matchId: "R1M1", epoch: 1, reason: "refused", detail: "full" });
  const released = release(state, "2026-01-02T00:00:00.000Z");
  expect(released.ok).toBe(true);
  givenState(state).when(release).leadsTo("b match_released");
});

test("the match that was assigned first comes first", () => {
  const state = withDialect(both, "P01", "league.v1");
  const rps = state.leagues.get("rps") as League;
  const [round] = rps.rounds;
  const [match] = round?.matches ?? [];
  if (!round || !match) throw new Error("no match");
  const earlier = { ...match, assignedAt: "2020-01-01T00:00:00.000Z" };
  const leagues = new Map(state.leagues).set("rps", { ...rps, rounds: [{ ...round, matches: [earlier] }] });
  expect(turns({ ...state, leagues })).toEqual([true, false]);
});
