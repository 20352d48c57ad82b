import { expect, test } from "vitest";
import { AT, open, player, stateAfter } from "../commands/testing/commands.ts";
import type { LeagueEvent } from "../league/events.ts";
import { afterCommands, pair, resultOf, running, SEED, SETTINGS, WON } from "../league/testing/leagues.ts";
import type { Commit } from "../ledger.ts";
import { liveEventsAtStart, liveEventsOf } from "./live-events.ts";
import type { Projections } from "./projections.ts";

test("the live event of a match has the first ten rows of the standings and the rows of its players", () => {
  const players = Array.from({ length: 30 }, (_, index) => `P${String(index + 1).padStart(2, "0")}`);
  const started = running(players);
  const { league } = afterCommands(started);
  const match = league.rounds.at(0)?.matches.find((candidate) => candidate.players.includes("P20"));
  if (!match) throw new Error("P20 has no match");
  const { events, league: after } = afterCommands([
    ...started,
    { type: "assign", matchId: match.matchId, epoch: 1, refereeId: "REF01" },
    { type: "report", result: resultOf(league, match, WON), refereeId: "REF01", seed: SEED },
  ]);
  const standings = players.map((player_id, index) => ({ player_id, rank: index + 1 }));
  const projections = {
    league: () => after,
    liveStandings: () => standings,
    completed: () => 1,
    expectedMatches: () => 435,
    result: () => null,
  };
  const event = events.at(-1) as LeagueEvent;
  const committed = { kind: "league", leagueId: "rps", version: events.length, event } as const;
  const [live] = liveEventsOf(committed, {} as Commit, projections as unknown as Projections, null);
  const shown = new Set([...players.slice(0, 10), ...match.players]);
  expect(live).toMatchObject({
    type: "match_completed",
    standings: standings.filter(({ player_id }) => shown.has(player_id)),
  });
});

test.each([
  ["removed", ["the operator has removed Ann (P01)"]],
  ["absent", ["Ann (P01) is no longer registered: too many players have left their endpoints"]],
  [undefined, []],
] as const)("the notice about a forgotten player depends on the reason: %s", (reason, notices) => {
  const state = stateAfter([open("rps"), player("Ann")]);
  const event = { v: 1, at: AT, type: "forgotten", ...(reason && { reason }) } as const;
  const committed = { kind: "agent", agentId: "P01", version: 2, event } as const;
  const after = { ...state, agents: new Map() };
  const live = liveEventsOf(committed, { before: state, state: after, events: [committed] }, {} as Projections, null);
  expect(live).toEqual(notices.map((message) => ({ type: "notice", message })));
});

test.each([
  [[], "rps continues: 0 of 3 matches are completed"],
  [
    [{ type: "pause" }],
    "rps is paused (0 of 3 matches are completed); continue it with: npm run league -- resume rps --data data/class",
  ],
] as const)("a restarted manager shows whether a running league is paused: %j", (commands, message) => {
  const { league } = afterCommands([...running(["P01", "P02", "P03"]), ...commands]);
  const projections = { leagues: () => [league], expectedMatches: () => 3 } as unknown as Projections;
  expect(liveEventsAtStart(projections, "data/class")).toEqual([{ type: "notice", message }]);
});

test.each([
  [3, ["rps ends after round 1 of 3: the players that are left cannot be paired without a second meeting"]],
  [1, []],
] as const)("a Swiss of two players and %i rounds gives the reason if it ends early", (rounds, notices) => {
  const settings = { ...SETTINGS, format: "swiss", formatOptions: { rounds } };
  const started = running(["P01", "P02"], settings);
  const { league: before } = afterCommands(started);
  const [match] = before.rounds.at(0)?.matches ?? [];
  if (!match) throw new Error("round 1 has no match");
  const { events, league } = afterCommands([
    ...started,
    { type: "assign", matchId: match.matchId, epoch: 1, refereeId: "REF01" },
    { type: "report", result: resultOf(before, match, WON), refereeId: "REF01", seed: SEED },
    pair(),
  ]);
  const event = events.find(({ type }) => type === "pairing_completed") as LeagueEvent;
  const committed = { kind: "league", leagueId: "rps", version: events.length, event } as const;
  const projections = { league: () => league } as unknown as Projections;
  const live = liveEventsOf(committed, {} as Commit, projections, null);
  expect(live).toEqual(notices.map((message) => ({ type: "notice", message })));
});
