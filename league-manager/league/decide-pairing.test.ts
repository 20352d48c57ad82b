import { describe, expect, it } from "vitest";
import { decideLeague } from "./decide.ts";
import type { League, LeagueCommand } from "./league.ts";
import {
  afterCommands,
  entered,
  given,
  LEAGUE_SEED,
  pair,
  played,
  running,
  SETTINGS,
  START,
} from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];

describe("the pairing of a round robin", () => {
  it("is a part of the start, with byes", () => {
    const round = (round_id: number, bye: string, ...players: string[]) => ({
      ...({ type: "round_paired", round_id, byes: [bye] } as const),
      pairings: [{ match_id: `R${round_id}M1`, players }],
    });
    given(...entered(PLAYERS))
      .when(START)
      .leadsTo(
        { type: "started" },
        round(1, "P01", "P02", "P03"),
        round(2, "P03", "P01", "P02"),
        round(3, "P02", "P03", "P01"),
      );
  });

  it("plays several cycles if the options of the format say so", () => {
    const cycles = { ...SETTINGS, formatOptions: { cycles: 2 } };
    const pairings = (round_id: number, ...players: string[]) => ({
      ...({ type: "round_paired", round_id, byes: [] } as const),
      pairings: [{ match_id: `R${round_id}M1`, players }],
    });
    given(...entered(["P01", "P02"], cycles))
      .when(START)
      .leadsTo({ type: "started" }, pairings(1, "P01", "P02"), pairings(2, "P02", "P01"));
  });

  it("gives each round the next opening, and after the last one the first one again", () => {
    const openings = [{ best_of: 3 }, { best_of: 5 }, { best_of: 7 }];
    const [first, second, third] = openings;
    const settings = { ...SETTINGS, formatOptions: { cycles: 4 }, openings };
    const round = (round_id: number, options: object | undefined, ...players: string[]) => ({
      ...({ type: "round_paired", round_id, byes: [] } as const),
      pairings: [{ match_id: `R${round_id}M1`, players, ...(options && { options: { ...options } }) }],
    });
    given(...entered(["P01", "P02"], settings))
      .when(START)
      .leadsTo(
        { type: "started" },
        round(1, first, "P01", "P02"),
        round(2, second, "P02", "P01"),
        round(3, third, "P01", "P02"),
        round(4, first, "P02", "P01"),
      );
  });

  it("does not read the seed of the league", () => {
    const seed = (): string => {
      throw new Error("the seed is read");
    };
    given(...entered(PLAYERS)).when({ ...START, seed } as LeagueCommand);
  });

  it("has no events while matches are open", () => {
    given(...running(PLAYERS))
      .when(pair())
      .leadsTo();
  });
});

it("a league with a format that this version does not know cannot be paired", () => {
  const unknown = { ...SETTINGS, format: "swis" };
  expect(() => given(...entered(PLAYERS, unknown)).when({ type: "start", seed: LEAGUE_SEED })).toThrow(
    "league rps has the unknown format swis",
  );
});

it("a sequential test that is decided cancels its open matches", () => {
  const settings = { ...SETTINGS, format: "sprt", formatOptions: { elo1: 800, alpha: 0.4, beta: 0.4 } };
  const started = [...entered(["P01", "P02"], settings), START, pair(4)];
  const cancelled = (match_id: string) => ({ type: "match_cancelled", match_id, epoch: 1 }) as const;
  given(...played(played(started, "R1M1"), "R1M2"))
    .when(pair(0))
    .leadsTo({ type: "pairing_completed" }, cancelled("R2M1"), cancelled("R2M2"));
});

describe("the pairing of a state", () => {
  it("is computed once, because a manager that has lost the lock of its run decides again", () => {
    const { league } = afterCommands(entered(PLAYERS, { ...SETTINGS, format: "swiss", formatOptions: { rounds: 2 } }));
    const decided = (state: League) => {
      const events = decideLeague(state, START);
      return events.ok ? events.value.slice(1) : [];
    };
    const [first] = decided(league);
    expect(first).toMatchObject({ type: "round_paired" });
    expect(decided(league)[0]).toBe(first);
    expect(decided({ ...league })[0]).not.toBe(first);
    expect(decided({ ...league })).toEqual([first]);
  });
});
