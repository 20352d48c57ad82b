import { expect, it } from "vitest";
import { evolveLeague, matchOf } from "./evolve.ts";
import type { League, LeagueCommand, NewLeagueEvent } from "./league.ts";
import { AT, afterCommands, entered, running, SETTINGS, START, stored } from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];
const ASSIGN: LeagueCommand = { type: "assign", matchId: "R1M1", epoch: 1, refereeId: "REF01" };
const assigned = afterCommands([...running(PLAYERS), ASSIGN]).league;
const departed = afterCommands([...running(PLAYERS), { type: "leave", playerId: "P01", agentVersion: 1 }]).league;
/** A league whose format has ended. */
const paired = evolveLeague(assigned, stored({ type: "pairing_completed" }));
const ended = evolveLeague(assigned, stored({ type: "pairing_completed", by: "operator" }));
const entrants = afterCommands(entered(PLAYERS)).league;
const paused = evolveLeague(assigned, stored({ type: "paused" }));
const completed: League = { ...ended, status: "completed", currentRound: null };
const cancelled: NewLeagueEvent = { type: "match_cancelled", match_id: "R1M1", epoch: 1 };

/** Events that cannot follow. A forged log may contain them. */
const FORGED: readonly (readonly [string, League, NewLeagueEvent, RegExp])[] = [
  ["a second end of the pairing", paired, { type: "pairing_completed" }, /cannot be completed now/],
  ["a second end by the operator", ended, { type: "pairing_completed", by: "operator" }, /cannot be completed now/],
  ["an end of the pairing after that by the operator", ended, { type: "pairing_completed" }, /cannot be completed now/],
  ["an extension after the end by the operator", ended, { type: "extended", format_options: {} }, /extended while/],
  ["an end of the pairing before the start", entrants, { type: "pairing_completed" }, /cannot be completed now/],
  [
    "a departure after the end",
    completed,
    { type: "player_left", player_id: "P01", agent_version: 1 },
    /left after the end/,
  ],
  ["a pause after the end by the operator", ended, { type: "paused" }, /cannot be paused now/],
  [
    "a round after the end of the pairing",
    paired,
    { type: "round_paired", round_id: paired.rounds.length + 1, pairings: [], byes: [] },
    /after the end of the format/,
  ],
  ["a cancelled match before the end of the pairing", assigned, cancelled, /cannot be cancelled now/],
  ["a pause before the start", entrants, { type: "paused" }, /cannot be paused now/],
  ["a second pause", paused, { type: "paused" }, /cannot be paused now/],
  ["a resumption without a pause", assigned, { type: "resumed" }, /without being paused/],
  ["an extension before the start", entrants, { type: "extended", format_options: {} }, /extended while/],
  ["a second completion", completed, { type: "completed" }, /without having been played/],
  ["a second departure", departed, { type: "player_left", player_id: "P01", agent_version: 2 }, /left twice/],
];

it.each(FORGED)("evolveLeague throws on %s", (_, before, event, message) => {
  expect(() => evolveLeague(before, stored(event))).toThrow(message);
});

it("a cancelled match gives no player points, and its referee is informed", () => {
  const after = evolveLeague(paired, stored(cancelled));
  const outcome = { termination: "aborted", reason: "cancelled", points: [], winner: null };
  expect(matchOf(after, "R1M1")).toMatchObject({ status: "completed", refereeId: null, outcome, logHead: "" });
  expect(after.withdrawals).toEqual([{ matchId: "R1M1", epoch: 1, refereeId: "REF01" }]);
  expect([after.currentRound, after.openRounds, after.completedCount]).toEqual([2, [], 1]);
});

it("a round that is opened when it is paired is open at the same time as earlier rounds, with the options of its matches", () => {
  const pairings = [{ match_id: "R4M1", players: ["P01", "P02"], options: { best_of: 3 } }];
  const event = { type: "round_paired", round_id: 4, pairings, byes: ["P03"], label: "Extra", slots: 2 } as const;
  const after = evolveLeague(assigned, stored(event));
  expect(after.rounds.at(3)).toMatchObject({ isOpened: true, openedAt: AT, label: "Extra", open: 1, byes: ["P03"] });
  expect(matchOf(after, "R4M1")?.options).toEqual({ best_of: 3 });
  expect([after.currentRound, after.openRounds]).toEqual([1, [1, 4]]);
});

it("a player that leaves before the start is no entrant any more, and the others stay", () => {
  const after = evolveLeague(entrants, stored({ type: "player_left", player_id: "P02" }));
  expect([[...after.entrants.keys()], after.departed]).toEqual([["P01", "P03"], []]);
});

it("the operator can add a player to a running league without late entries", () => {
  const entry = { type: "player_entered", player_id: "P09", name_commitment: "c", entered_after: 3 } as const;
  const after = evolveLeague(assigned, stored({ ...entry, by_operator: true }));
  expect([after.entrants.has("P09"), after.lateEntries]).toEqual([true, { P09: 3 }]);
  expect(() => evolveLeague(assigned, stored(entry))).toThrow(/after the start/);
  expect(() => evolveLeague(assigned, stored({ ...entry, by_operator: true, entered_after: 2 }))).toThrow(
    /after another round/,
  );
});

it("a round without matches is not the current round", () => {
  const { league } = afterCommands([...entered(PLAYERS, { ...SETTINGS, format: "match" }), START]);
  const event = { type: "round_paired", round_id: 1, pairings: [], byes: [], slots: 1 } as const;
  expect(evolveLeague(league, stored(event))).toMatchObject({ currentRound: null, openRounds: [] });
  expect(league.lateEntries).toStrictEqual({});
});
