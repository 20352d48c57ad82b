import { describe, expect, it } from "vitest";
import type { LeagueEvent } from "./events.ts";
import { evolveLeague, foldLeague, matchOf } from "./evolve.ts";
import { type League, type LeagueCommand, type NewLeagueEvent, roundOf } from "./league.ts";
import { afterCommands, entered, running, START, stored } from "./testing/leagues.ts";

const ASSIGN: LeagueCommand = { type: "assign", matchId: "R1M1", epoch: 1, refereeId: "REF01" };
const PLAYERS = ["P01", "P02", "P03"];
const open = afterCommands(entered(PLAYERS)).league;
/** A running league, with the bye of round 1 for P01. */
const runningLeague = afterCommands(running(PLAYERS)).league;
const assigned = afterCommands([...running(PLAYERS), ASSIGN]).league;

const match = { match_id: "R1M1", epoch: 1, referee_id: "REF01" };
const summary = {
  winner: "P02",
  final_scores: {},
  match_points: { P02: 3, P03: 0 },
  reason: "rounds_won",
  log_head: "h",
};
const completed: NewLeagueEvent = { type: "match_completed", ...match, ...summary, termination: "normal", faults: [] };
const forfeit: NewLeagueEvent = {
  ...completed,
  referee_id: null,
  termination: "forfeit",
  reason: "shut_down",
  log_head: "",
};
const fault = { player_id: "P01", role: "player_1", code: "G002", cause: "timeout", detail: "late" } as const;
const pairings = [{ match_id: "R1M1", players: ["P02", "P03"] }];
const opened: NewLeagueEvent = {
  type: "opened",
  league_id: "rps",
  run_id: "run",
  game: "rps.v1",
  roles: ["a", "b"],
  options: {},
  format: "round-robin",
  seed_commitment: "c",
};
const started = evolveLeague(open, stored({ type: "started" }));

/** Events that cannot follow. A forged log may contain them. */
const FORGED: readonly (readonly [
  description: string,
  before: League | null,
  event: NewLeagueEvent,
  message: RegExp,
])[] = [
  ["the opening of an opened league", open, opened, /opened once/],
  ["a start before the opening", null, { type: "started" }, /before the league is opened/],
  ["a second start", runningLeague, { type: "started" }, /started twice/],
  ["a start without players", afterCommands(entered(["P01"])).league, { type: "started" }, /too few players/],
  [
    "a player that enters late",
    runningLeague,
    { type: "player_entered", player_id: "P09", name_commitment: "c" },
    /after the start/,
  ],
  [
    "a player that enters twice",
    open,
    { type: "player_entered", player_id: "P01", name_commitment: "c" },
    /entered twice/,
  ],
  [
    "a player that leaves late without the version of its log",
    runningLeague,
    { type: "player_left", player_id: "P01" },
    /without the version/,
  ],
  ["an unknown player that leaves", open, { type: "player_left", player_id: "P09" }, /without having entered/],
  [
    "a round that is paired before the start",
    open,
    { type: "round_paired", round_id: 1, pairings: [], byes: [] },
    /while the league is not running/,
  ],
  [
    "a round that skips a round",
    started,
    { type: "round_paired", round_id: 2, pairings: [], byes: [] },
    /after round 0/,
  ],
  [
    "a player in two matches of a round",
    started,
    { type: "round_paired", round_id: 1, pairings, byes: ["P02"] },
    /listed twice/,
  ],
  [
    "a player with two byes",
    started,
    { type: "round_paired", round_id: 1, pairings, byes: ["P01", "P01"] },
    /listed twice/,
  ],
  [
    "a bye of a player outside the league",
    started,
    { type: "round_paired", round_id: 1, pairings, byes: ["P09"] },
    /a bye .* is not a player/,
  ],
  [
    "a match of a player outside the league",
    started,
    { type: "round_paired", round_id: 1, pairings: [{ match_id: "R1M1", players: ["P02", "P09"] }], byes: [] },
    /P09 is not a player/,
  ],
  [
    "a match of one player",
    started,
    { type: "round_paired", round_id: 1, pairings: [{ match_id: "R1M1", players: ["P02"] }], byes: [] },
    /needs 2 players/,
  ],
  [
    "a match of a player against itself",
    runningLeague,
    { type: "match_scheduled", match_id: "R2M2", round_id: 2, players: ["P02", "P02"] },
    /needs 2 players/,
  ],
  [
    "a player with two matches in a round",
    started,
    {
      type: "round_paired",
      round_id: 1,
      pairings: [...pairings, { match_id: "R1M2", players: ["P01", "P02"] }],
      byes: [],
    },
    /listed twice/,
  ],
  [
    "a match with another id",
    started,
    { type: "round_paired", round_id: 1, pairings: [{ match_id: "R1M2", players: ["P02", "P03"] }], byes: [] },
    /R1M2 is not the next match/,
  ],
  [
    "a round that is opened too early",
    runningLeague,
    { type: "round_opened", round_id: 2, absent: [] },
    /cannot be opened/,
  ],
  [
    "a round that is opened twice",
    runningLeague,
    { type: "round_opened", round_id: 1, absent: [] },
    /cannot be opened/,
  ],
  [
    "an absent player without a match",
    afterCommands([...entered(PLAYERS), START]).league,
    { type: "round_opened", round_id: 1, absent: [{ player_id: "P01", agent_version: 1 }] },
    /an absent player/,
  ],
  [
    "a round that is announced before it is opened",
    runningLeague,
    { type: "round_announced", round_id: 2 },
    /cannot be announced/,
  ],
  [
    "an additional match in an unknown round",
    runningLeague,
    { type: "match_scheduled", match_id: "R5M1", round_id: 5, players: ["P01", "P02"] },
    /no round 5/,
  ],
  ["an unknown match", runningLeague, { type: "match_assigned", ...match, match_id: "R7M1" }, /there is no match R7M1/],
  [
    "a match of a round that is not opened",
    runningLeague,
    { type: "match_assigned", ...match, match_id: "R2M1" },
    /cannot be assigned/,
  ],
  ["another epoch", runningLeague, { type: "match_assigned", ...match, epoch: 2 }, /under epoch 2, not 1/],
  [
    "a match with two referees",
    assigned,
    { type: "match_assigned", ...match, referee_id: "REF02" },
    /cannot be assigned/,
  ],
  ["a result without an assignment", runningLeague, completed, /is not assigned/],
  ["a result of another referee", assigned, { ...completed, referee_id: "REF02" }, /not assigned to REF02/],
  ["a result with a winner outside the match", assigned, { ...completed, winner: "P01" }, /P01 does not play/],
  [
    "a result with points of a player outside the match",
    assigned,
    { ...completed, match_points: { P01: 3, P03: 0 } },
    /match_points names/,
  ],
  [
    "a result with points of one player",
    assigned,
    { ...completed, match_points: { P02: 3 } },
    /match_points names P02/,
  ],
  [
    "a result with points of a further player",
    assigned,
    { ...completed, match_points: { P02: 3, P03: 0, P01: 0 } },
    /match_points names P02, P03, P01/,
  ],
  [
    "a result with points that no match gives",
    assigned,
    { ...completed, match_points: { P02: 9, P03: 0 } },
    /3, 1 or 0 points/,
  ],
  [
    "a result with a fault of a player outside the match",
    assigned,
    { ...completed, faults: [fault] },
    /a fault names P01, who does not play/,
  ],
  ["a result that is an abort", assigned, { ...completed, termination: "aborted" }, /completed as aborted/],
  [
    "a result of the manager that is not a forfeit",
    runningLeague,
    { ...forfeit, termination: "normal" },
    /result without a referee/,
  ],
  [
    "a result of the manager for another reason",
    runningLeague,
    { ...forfeit, reason: "timeout" },
    /result without a referee/,
  ],
  ["a forfeit of an assigned match", assigned, forfeit, /cannot be forfeited/],
  ["a forfeit in a round that is not opened", runningLeague, { ...forfeit, match_id: "R2M1" }, /cannot be forfeited/],
  [
    "a release of an unassigned match",
    runningLeague,
    { type: "match_released", ...match, reason: "overdue", detail: "" },
    /not assigned/,
  ],
  [
    "an abort of an unassigned match",
    runningLeague,
    { type: "match_aborted", ...match, reason: "", log_head: "" },
    /not assigned/,
  ],
  ["a settled withdrawal that does not exist", assigned, { type: "withdrawal_settled", ...match }, /not withdrawn/],
  ["a completion before the last match", runningLeague, { type: "completed" }, /before its last match/],
  ["a completion without matches", started, { type: "completed" }, /without having been played/],
  [
    "another config after the start",
    runningLeague,
    { type: "reconfigured", game: "chess.v1", roles: ["a", "b"], options: {}, format: "round-robin" },
    /after the start/,
  ],
];

describe("evolveLeague throws on", () => {
  it.each(FORGED)("%s", (_, before, event, message) => {
    expect(() => evolveLeague(before, stored(event))).toThrow(message);
  });
});

describe("a valid event", () => {
  it.each([
    ["a result", assigned, completed],
    ["a forfeit", runningLeague, forfeit],
  ] as const)("that records %s completes the match", (_, before, event) => {
    const after = evolveLeague(before, stored(event));
    expect(matchOf(after, "R1M1")).toMatchObject({ status: "completed", outcome: { winner: 0, points: [3, 0] } });
    expect([after.completedCount, after.currentRound, after.version]).toEqual([1, 2, before.version + 1]);
  });
});

it("equal outcomes without faults share one object", () => {
  const outcomeOf = (change: object) => {
    const event = stored({ ...completed, final_scores: { P02: 3, P03: 1 }, ...change } as NewLeagueEvent);
    return matchOf(evolveLeague(assigned, event), "R1M1")?.outcome;
  };
  const outcome = outcomeOf({});
  expect(outcomeOf({ log_head: "another" })).toBe(outcome);
  const changes = [
    { winner: "P03" },
    { winner: null },
    { match_points: { P02: 1, P03: 1 } },
    { final_scores: { P02: 4, P03: 1 } },
    { reason: "another" },
    { termination: "forfeit", faults: [{ ...fault, player_id: "P03" }] },
  ];
  for (const change of changes) expect(outcomeOf(change)).not.toEqual(outcome);
  expect(outcomeOf({ winner: null })?.winner).toBeNull();
  expect(outcomeOf({ faults: [{ ...fault, player_id: "P03" }] })?.faults).toHaveLength(1);
});

describe("the fold of a log", () => {
  it("does not change earlier states", () => {
    const { events } = afterCommands([...running(PLAYERS), ASSIGN]);
    const states = events.map((_, index) => foldLeague(events.slice(0, index)));
    const copies = structuredClone(states);
    events.reduce((league: League | null, event: LeagueEvent) => evolveLeague(league, event), null);
    expect(states).toEqual(copies);
    for (const [index, event] of events.entries()) evolveLeague(states[index] ?? null, event);
    expect(states).toEqual(copies);
  });

  it("has the number of its events as the version", () => {
    expect(foldLeague([])).toBe(null);
    expect(runningLeague.version).toBe(afterCommands(running(PLAYERS)).events.length);
  });

  it("has each match under its id and no match under another text", () => {
    expect(matchOf(runningLeague, "R3M1")?.players).toEqual(["P03", "P01"]);
    for (const id of ["R3M2", "R0M1", "R01M1", "R4M1", "M1", "R1M1 ", "constructor"])
      expect(matchOf(runningLeague, id)).toBe(null);
    expect([roundOf(runningLeague, 0), roundOf(null, 1)]).toEqual([undefined, undefined]);
  });
});
