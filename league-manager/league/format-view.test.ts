import { describe, expect, it } from "vitest";
import {
  acceptsLateEntries,
  canPair,
  competitorRanking,
  endOfPairing,
  expectedMatches,
  formatOf,
  formatResultOf,
  formatText,
  isPlayed,
  openMatchCount,
  opensAtOnce,
  parsedOptions,
  plannedRounds,
  rankingOf,
  viewOf,
} from "./format-view.ts";
import type { League, LeagueCommand, LeagueSettings } from "./league.ts";
import { standingsRules } from "./standings-of.ts";
import { afterCommands, CODENAMES, enter, entered, pair, played, running, SETTINGS, START } from "./testing/leagues.ts";

const TEAMS = [
  ["P01", "P02"],
  ["P03", "P04"],
];
const started = running(["P01", "P02", "P03"]);
const onePlayed = afterCommands(played(started, "R1M1")).league;
const leave: LeagueCommand = { type: "leave", playerId: "P02", agentVersion: 1 };
const end: LeagueCommand = { type: "end" };
const settingsOf = (format: string, formatOptions = {}): LeagueSettings => ({ ...SETTINGS, format, formatOptions });
/** A league of two players in its first matches. */
const leagueOf = (format: string, formatOptions = {}): League =>
  afterCommands([...entered(["P01", "P02"], settingsOf(format, formatOptions)), START, pair(2)]).league;
const noName = (playerId: string): string => playerId;

it("a league of a format that this version does not know can be read from its log", () => {
  const unknown: League = { ...onePlayed, format: "monrad", formatOptions: { rounds: 5 } };
  expect(formatText(unknown)).toBe("monrad, 5 rounds");
  expect([plannedRounds(unknown), expectedMatches(unknown), openMatchCount(unknown)]).toEqual([null, null, 2]);
  expect([competitorRanking(unknown), rankingOf(unknown, () => unknown.rounds)]).toEqual([undefined, undefined]);
  expect([formatResultOf(unknown, noName), endOfPairing(unknown, true), opensAtOnce(unknown)]).toEqual([
    null,
    [],
    false,
  ]);
  expect(standingsRules(unknown)).toEqual({ tieBreaks: ["points", "wins", "draws"], byePoints: 0 });
  expect(() => formatOf(unknown)).toThrow("league rps has the unknown format monrad");
});

describe("the options of a format", () => {
  it("have its defaults, and are parsed once for each league", () => {
    const formatOptions = {};
    const swiss = { leagueId: "rps", format: "swiss", formatOptions };
    expect(parsedOptions(swiss)).toEqual({});
    expect(parsedOptions(swiss)).toBe(parsedOptions(swiss));
    expect(parsedOptions({ ...swiss, format: "match" })).toEqual({ games: 100 });
  });

  it.each([
    ["round-robin", {}, null],
    ["round-robin", { cycles: 2 }, "Round robin, 2 cycles"],
    ["swiss", {}, "Swiss system"],
    ["gauntlet", { champion: "Ann", games: 4 }, "Gauntlet, champion Ann, 4 games"],
    ["round-robin", { makeup: true }, "Round robin, players who come late play the matches that they have missed"],
    ["round-robin", { makeup: false }, null],
    ["match", { games: 1 }, "Match, 1 game"],
    ["ladder", { matches: 1 }, "Ladder, 1 match"],
    ["ladder", { matches: 2, max_ahead: 2 }, "Ladder, 2 matches"],
    ["ladder", { max_ahead: 9 }, "Ladder, max ahead 9"],
    ["single-elimination", { third_place: true }, "Single elimination, with a match for the third place"],
    ["double-elimination", { bracket_reset: false }, "Double elimination, only one match in the grand final"],
    ["double-elimination", { bracket_reset: true }, "Double elimination"],
  ])("of the format %s are named: %j", (format, formatOptions, text) => {
    expect(formatText({ format, formatOptions })).toBe(text);
  });
});

it.each<[string, Partial<LeagueSettings>, boolean]>([
  ["swiss", {}, true],
  ["swiss", { teams: TEAMS }, false],
  ["round-robin", {}, false],
  ["round-robin", { formatOptions: { makeup: true } }, true],
  ["round-robin", { formatOptions: { makeup: true }, roles: CODENAMES.roles }, false],
  ["single-elimination", {}, false],
])("a league of the format %s with %j has matches for late entries: %s", (format, more, expected) => {
  expect(acceptsLateEntries({ ...SETTINGS, format, ...more })).toBe(expected);
});

describe("the players as a format sees them", () => {
  const idsOf = (league: League) => viewOf(league, "").players.map(({ playerId }) => playerId);

  it("are in the order of their numbers, in a round robin in that of the characters", () => {
    const ids = ["P100", "P99", "P1000"];
    expect(idsOf(afterCommands(entered(ids, settingsOf("swiss"))).league)).toEqual(["P99", "P100", "P1000"]);
    const { league } = afterCommands(entered(ids));
    expect(idsOf(league)).toEqual(["P100", "P1000", "P99"]);
    expect(idsOf({ ...league, format: "swiss" })).toEqual(["P99", "P100", "P1000"]);
  });

  it("have the number of rounds before a late entry, and late entries come last", () => {
    const late = { ...settingsOf("swiss"), lateEntry: "forfeit" as const };
    const { league } = afterCommands([...running(["P02", "P03"], late), enter("P01"), leave]);
    expect(viewOf(league, "").players).toEqual([
      { playerId: "P02", enteredAfter: 0, hasLeft: true },
      { playerId: "P03", enteredAfter: 0, hasLeft: false },
      { playerId: "P01", enteredAfter: 1, hasLeft: false },
    ]);
  });

  it("are the same list until a player enters or leaves, so that formats can keep what depends on it", () => {
    const before = afterCommands(started).league;
    expect(viewOf(onePlayed, "").players).not.toBe(viewOf(before, "").players);
    const { players } = viewOf(before, "");
    expect(viewOf({ ...before, version: 99 }, "").players).toBe(players);
    expect(viewOf({ ...before, departed: ["P01"] }, "").players).not.toBe(players);
  });

  it("are teams in a league of teams, with the seed and the end of the league", () => {
    const { league } = afterCommands([...running(["P01", "P02", "P03", "P04"], { ...CODENAMES, teams: TEAMS }), end]);
    const view = viewOf(league, () => "seed");
    expect(view).toMatchObject({ roleCount: 2, seed: "seed", isEnded: true });
    expect(view.players.map(({ playerId }) => playerId)).toEqual(["T1", "T2"]);
    expect(viewOf(onePlayed, "seed").seed).toBe("seed");
    expect(viewOf(onePlayed, "seed")).not.toHaveProperty("isEnded");
  });
});

describe("the progress of a league", () => {
  const swiss = (rounds: number) => running(["P01", "P02"], settingsOf("swiss", { rounds }));
  const finished = (commands: readonly LeagueCommand[]): League => afterCommands([...commands, pair()]).league;

  it("has the rounds that are planned, and after the last pairing those that are paired", () => {
    expect(plannedRounds(afterCommands(swiss(3)).league)).toBe(3);
    expect(plannedRounds(finished(played(swiss(3), "R1M1")))).toBe(1);
    expect(plannedRounds(leagueOf("match"))).toBeNull();
  });

  it("has lines about an end by the operator and an end before the planned rounds", () => {
    const early = finished(played(swiss(3), "R1M1"));
    expect(endOfPairing(early, false)).toEqual(["the operator has ended rps; its open matches are cancelled"]);
    expect(endOfPairing({ ...early, isPairingComplete: false }, true)).toEqual([
      "rps ends after round 1 of 3: the players that are left cannot be paired without a second meeting",
    ]);
    expect(endOfPairing(finished(played(swiss(1), "R1M1")), true)).toEqual([]);
    expect(endOfPairing({ ...leagueOf("round-robin", { cycles: 3 }), rounds: early.rounds }, true)).toEqual([]);
    expect(endOfPairing(leagueOf("match"), true)).toEqual([]);
  });

  it("has the matches that are completed or still to come", () => {
    expect(expectedMatches(leagueOf("match", { games: 7 }))).toBe(7);
    expect(expectedMatches(onePlayed)).toBe(3);
    const ended = afterCommands([...swiss(3), end]).league;
    expect([expectedMatches(ended), openMatchCount(ended)]).toEqual([1, 0]);
    expect(expectedMatches({ ...onePlayed, status: "completed", matchCount: 2 })).toBe(2);
    expect(openMatchCount(onePlayed)).toBe(2);
    expect(openMatchCount(afterCommands(entered(["P01", "P02"])).league)).toBe(0);
  });

  it("has a result only in a started league whose format tests a hypothesis", () => {
    expect(formatResultOf(leagueOf("sprt"), (id) => `name of ${id}`)?.text).toMatch(
      /not decided yet if name of P01 is better than name of P02/,
    );
    expect(formatResultOf(leagueOf("match"), noName)).toBeNull();
    expect(formatResultOf({ ...leagueOf("sprt"), status: "open" }, noName)).toBeNull();
  });
});

describe("the order of a format that does not rank by points", () => {
  it("is that of the rounds, and in a league of teams that of their members", () => {
    const single = afterCommands(running(["P01", "P02"], settingsOf("single-elimination", { legs: 1 }))).league;
    expect(rankingOf(single, () => single.rounds)).toEqual([["P01", "P02"]]);
    const won = afterCommands(
      played(running(["P01", "P02"], settingsOf("single-elimination", { legs: 1 })), "R1M1"),
    ).league;
    expect(rankingOf(won, () => won.rounds)).toEqual([["P01"], ["P02"]]);
    expect(rankingOf(won, () => single.rounds)).toEqual([["P01", "P02"]]);
    expect(competitorRanking(won)).toEqual([["P01"], ["P02"]]);
    expect(rankingOf(onePlayed, () => onePlayed.rounds)).toBeUndefined();
    const teams = { ...CODENAMES, format: "single-elimination", formatOptions: { legs: 1 }, teams: TEAMS };
    const { league } = afterCommands(running(["P01", "P02", "P03", "P04"], teams));
    expect(rankingOf(league, () => league.rounds)).toEqual([["P01", "P02", "P03", "P04"]]);
    expect(rankingOf({ ...league, format: "round-robin" }, () => league.rounds)).toBeUndefined();
  });
});

it.each<[string, Partial<League>, boolean, boolean]>([
  ["before the start", { status: "open" }, false, false],
  ["between two rounds", {}, true, false],
  ["in a round", { currentRound: 1 }, false, false],
  ["in a round of a format that opens its rounds at once", { currentRound: 1, format: "match" }, true, false],
  ["after the last pairing", { isPairingComplete: true }, false, true],
  ["after the last pairing, in the last round", { isPairingComplete: true, currentRound: 1 }, false, false],
  ["while it is paused", { isPaused: true }, false, false],
  ["while it is paused after the last pairing", { isPaused: true, isPairingComplete: true }, false, false],
  ["after its end", { status: "completed", isPairingComplete: true }, false, false],
])("a league %s: %j", (_, change, pairs, isToComplete) => {
  const league: League = { ...onePlayed, currentRound: null, ...change };
  expect([canPair(league), isPlayed(league)]).toEqual([pairs, isToComplete]);
});
