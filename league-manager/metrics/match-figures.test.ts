import { beforeEach, expect, test } from "vitest";
import type { LeagueEvent } from "../league/events.ts";
import { evolveLeague } from "../league/evolve.ts";
import type { League, NewLeagueEvent } from "../league/league.ts";
import { afterCommands, running } from "../league/testing/leagues.ts";
import type { Commit } from "../ledger.ts";
import { MatchFigures } from "./manager-metrics.ts";

const START_MS = Date.parse("2025-01-01T00:00:00.000Z");
let league: League;
let figures: MatchFigures;
let commit: (commit: Commit) => void;

/** A league of P01, P02 and P03 whose first round was opened at 0 s. It has the match R1M1. */
beforeEach(() => {
  league = afterCommands(running(["P01", "P02", "P03"])).league;
  figures = new MatchFigures({
    onCommit(listener) {
      commit = listener;
      return () => {};
    },
  });
});

/** Commits an event of the league this many seconds after the opening of its first round. */
function at(seconds: number, event: NewLeagueEvent): void {
  const before = { leagues: new Map([["rps", league]]) };
  const recorded = { v: 1, at: new Date(START_MS + seconds * 1_000).toISOString(), ...event } as LeagueEvent;
  league = evolveLeague(league, recorded);
  const events = [{ kind: "league", leagueId: "rps", version: league.version, event: recorded }] as const;
  commit({ before, state: { leagues: new Map([["rps", league]]) }, events } as unknown as Commit);
}

const R1M1 = { match_id: "R1M1", epoch: 1, referee_id: "REF01" } as const;
const players = (): readonly string[] => league.rounds.at(0)?.matches[0]?.players ?? [];
const result = (faults: readonly string[] = []) => {
  const [winner = "", loser = ""] = players();
  return {
    ...({ type: "match_completed", winner, final_scores: {}, reason: "rounds_won", log_head: "head" } as const),
    match_points: { [winner]: 3, [loser]: 0 },
    termination: faults.length > 0 ? ("forfeit" as const) : ("normal" as const),
    faults: faults.map((cause) => ({ player_id: loser, role: "player_2", cause, detail: "…" })),
  };
};

/** The values of a metric that are not 0, by their labels. */
function valuesOf(name: string): Readonly<Record<string, number>> {
  const family = figures.families().find((one) => one.name === name);
  const shown = family?.values.filter(({ value }) => value !== 0) ?? [];
  return Object.fromEntries(
    shown.map(({ labels, metricName = name, value }) => [
      [metricName.slice(name.length), ...Object.values(labels)].filter((part) => part !== "").join(" "),
      value,
    ]),
  );
}
const secondsOf = (name: string) => [valuesOf(name)._sum ?? 0, valuesOf(name)._count ?? 0];

test("a match waits from the opening of its round, and its latency ends with the result", () => {
  at(2, { type: "match_assigned", ...R1M1 });
  expect([secondsOf("league_match_wait_seconds"), secondsOf("league_match_latency_seconds")]).toEqual([
    [2, 1],
    [0, 0],
  ]);
  at(7, { ...R1M1, ...result() });
  expect(valuesOf("league_match_latency_seconds")).toEqual({
    "_bucket 10": 1,
    "_bucket 30": 1,
    "_bucket 60": 1,
    "_bucket 120": 1,
    "_bucket 300": 1,
    "_bucket 600": 1,
    "_bucket 1800": 1,
    "_bucket 3600": 1,
    "_bucket +Inf": 1,
    _sum: 7,
    _count: 1,
  });
  expect(valuesOf("league_matches_ended_total")).toEqual({ normal: 1 });
});

test("a match that is taken from its referee waits again from that moment", () => {
  at(1, { type: "match_assigned", ...R1M1 });
  at(10, { type: "match_released", ...R1M1, reason: "unreachable", detail: "referee REF01 does not answer" });
  at(13, { type: "match_assigned", ...R1M1, epoch: 2, referee_id: "REF02" });
  at(15, { ...R1M1, epoch: 2, referee_id: "REF02", ...result() });
  expect(valuesOf("league_matches_released_total")).toEqual({ unreachable: 1 });
  expect(secondsOf("league_match_wait_seconds")).toEqual([1 + 3, 2]);
  expect(secondsOf("league_match_latency_seconds")).toEqual([5, 1]);
});

test("a match that an operator adds waits from that moment", () => {
  const added = { match_id: "R1M2", epoch: 1, referee_id: "REF01" } as const;
  at(100, { type: "match_scheduled", match_id: "R1M2", round_id: 1, players: ["P01", "P02"] });
  at(101, { type: "match_assigned", ...added });
  expect(secondsOf("league_match_wait_seconds")).toEqual([1, 1]);
});

test("a time before that of the event that it follows, from the clock of another manager, counts as 0 s", () => {
  at(-1, { type: "match_assigned", ...R1M1 });
  expect(secondsOf("league_match_wait_seconds")).toEqual([0, 1]);
});

test("faults are counted by cause; an unknown cause of a referee is counted as other", () => {
  at(1, { type: "match_assigned", ...R1M1 });
  at(2, { ...R1M1, ...result(["timeout", "made-up"]) });
  expect(valuesOf("league_faults_total")).toEqual({ timeout: 1, other: 1 });
  expect(valuesOf("league_matches_ended_total")).toEqual({ forfeit: 1 });
});

test("the forfeit of an absent player is no match that was played, so it has no latency", () => {
  const [winner = "", loser = ""] = players();
  const points = { [winner]: 3, [loser]: 0 };
  const absence = { reason: "shut_down", log_head: "", termination: "forfeit" } as const;
  const completed = { ...result(), ...absence, match_points: points, referee_id: null };
  at(1, { ...R1M1, ...completed });
  expect(secondsOf("league_match_latency_seconds")).toEqual([0, 0]);
  expect(valuesOf("league_matches_ended_total")).toEqual({ forfeit: 1 });
});

test("a match that is annulled after its result has ended once", () => {
  at(1, { type: "match_assigned", ...R1M1 });
  at(2, { ...R1M1, ...result() });
  const { match_points } = result();
  at(3, { type: "match_annulled", match_id: "R1M1", epoch: 1, reason: "a wrong rule", match_points });
  expect(valuesOf("league_matches_ended_total")).toEqual({ normal: 1 });
});
