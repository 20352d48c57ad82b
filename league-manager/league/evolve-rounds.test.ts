import { describe, expect, it } from "vitest";
import { evolveLeague, matchOf } from "./evolve.ts";
import { endOfRound, type League, type NewLeagueEvent } from "./league.ts";
import { AT, afterCommands, played, running, SETTINGS, stored } from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];
const ROUND_MS = 60_000;
const TIMED = { ...SETTINGS, roundMs: ROUND_MS };
const untimed = afterCommands(running(PLAYERS)).league;
const timed = afterCommands(running(PLAYERS, TIMED)).league;
const oneRoundPlayed = afterCommands(played(running(PLAYERS, TIMED), "R1M1")).league;

const following = (league: League, ...events: readonly NewLeagueEvent[]): League =>
  events.reduce((before: League, event) => evolveLeague(before, stored(event)), league);
const expired = (round_id: number): NewLeagueEvent => ({ type: "round_expired", round_id });
const cancelled = (match_id: string): NewLeagueEvent => ({ type: "match_cancelled", match_id, epoch: 1 });
const scheduled = (round_id: number, match_id: string): NewLeagueEvent => ({
  type: "match_scheduled",
  match_id,
  round_id,
  players: ["P01", "P02"],
});

const allPlayed = following(
  untimed,
  { type: "pairing_completed", by: "operator" },
  ...["R1M1", "R2M1", "R3M1"].map(cancelled),
);

/** Events that cannot follow. A forged log may contain them. */
const FORGED: readonly (readonly [string, League, NewLeagueEvent, RegExp])[] = [
  ["the expiry of a round without a time limit", untimed, expired(1), /cannot expire now/],
  ["the expiry of a round that is not opened", timed, expired(2), /cannot expire now/],
  ["the expiry of an unknown round", timed, expired(9), /cannot expire now/],
  ["the expiry of a round whose matches are completed", oneRoundPlayed, expired(1), /cannot expire now/],
  ["a second expiry", following(timed, expired(1)), expired(1), /cannot expire now/],
  ["an additional match in a completed round", oneRoundPlayed, scheduled(1, "R1M2"), /a round that is over/],
  ["an additional match after the last one", allPlayed, scheduled(4, "R4M1"), /a round that is over/],
  ["the announcement of an unknown round", timed, { type: "round_announced", round_id: 9 }, /cannot be announced/],
];

it.each(FORGED)("evolveLeague throws on %s", (_, before, event, message) => {
  expect(() => evolveLeague(before, stored(event))).toThrow(message);
});

it("the matches of an expired round can be cancelled, with the end of its time as the reason", () => {
  const league = following(timed, expired(1), cancelled("R1M1"));
  expect(matchOf(league, "R1M1")).toMatchObject({
    status: "completed",
    outcome: { reason: "time_of_the_round_is_over", points: [] },
  });
  expect([league.currentRound, league.openRounds]).toEqual([2, []]);
});

it("an additional match may begin a new round", () => {
  const pairings = [{ match_id: "R4M1", players: ["P01", "P02"] }];
  const paired: NewLeagueEvent = { type: "round_paired", round_id: 4, pairings, byes: [] };
  const league = following(oneRoundPlayed, paired, scheduled(5, "R5M1"));
  expect(league.rounds.at(3)).toMatchObject({ isOpened: false, openedAt: null });
  expect(league.rounds.at(4)).toMatchObject({ roundId: 5, open: 1, isOpened: false });
  expect([matchOf(league, "R5M1")?.players, league.matchCount]).toEqual([["P01", "P02"], 5]);
});

describe("the end of a round", () => {
  const opened = Date.parse(AT);
  const later = "2025-01-01T00:00:30.000Z";
  const resumed = evolveLeague(following(timed, { type: "paused" }), { ...stored({ type: "resumed" }), at: later });

  it("is its time after its opening, or after the last resumption", () => {
    expect(endOfRound(timed, 1)).toBe(opened + ROUND_MS);
    expect(endOfRound(resumed, 1)).toBe(Date.parse(later) + ROUND_MS);
    expect(endOfRound({ ...resumed, resumedAt: "2024-01-01T00:00:00.000Z" }, 1)).toBe(opened + ROUND_MS);
  });

  it.each<[string, League, number]>([
    ["has no time limit", untimed, 1],
    ["is not opened", timed, 2],
    ["does not exist", timed, 9],
    ["is paused", following(timed, { type: "paused" }), 1],
    ["has expired", following(timed, expired(1)), 1],
    ["belongs to a league that has ended", { ...timed, status: "completed" }, 1],
  ])("does not exist if the round %s", (_, league, roundId) => expect(endOfRound(league, roundId)).toBe(null));
});
