import { describe, expect, it } from "vitest";
import { foldLeague } from "./evolve.ts";
import type { League, LeagueCommand } from "./league.ts";
import { advanceWork, type OpenWork, openWork } from "./open-work.ts";
import { afterCommands, entered, pair, running, START, unplayed } from "./testing/leagues.ts";

const assign = (matchId: string, epoch = 1): LeagueCommand => ({ type: "assign", matchId, epoch, refereeId: "REF01" });
const open = (roundId: number, ...shutDown: string[]): LeagueCommand => {
  return { type: "open_round", roundId, shutDown: new Map(shutDown.map((id) => [id, 1])) };
};
const PLAYERS = ["P01", "P02", "P03", "P04"];

/** The open work after these commands, with the ids of matches. Checks that advancing it by each event gives the same result. */
function workAfter(...commands: readonly LeagueCommand[]) {
  const { league, events } = afterCommands(commands);
  let advanced: OpenWork | null = null;
  for (const [index, event] of events.entries()) {
    const after = foldLeague(events.slice(0, index + 1)) as League;
    advanced = advanced ? advanceWork(advanced, after, event) : openWork(after);
  }
  expect(advanced).toEqual(openWork(league));
  const { unassigned, assigned, roundsToAnnounce, ...work } = openWork(league);
  const lists = { unassigned: [...unassigned.keys()], assigned: [...assigned.keys()], announce: [...roundsToAnnounce] };
  return {
    ...lists,
    open: work.roundToOpen,
    withdrawals: work.withdrawals,
    pair: work.isToPair,
    complete: work.isToComplete,
  };
}

const NO_WORK = {
  unassigned: [],
  assigned: [],
  announce: [],
  open: null,
  withdrawals: [],
  pair: false,
  complete: false,
};
const started: readonly LeagueCommand[] = [...entered(PLAYERS), START];

describe("the open work of a league", () => {
  it("is empty before the start", () => {
    expect(workAfter(...entered(PLAYERS))).toEqual(NO_WORK);
  });

  it("opens the current round, and then announces it and assigns its matches", () => {
    expect(workAfter(...started)).toEqual({ ...NO_WORK, open: 1 });
    const opened = { ...NO_WORK, unassigned: ["R1M1", "R1M2"], announce: [1] };
    expect(workAfter(...started, open(1))).toEqual(opened);
    const assigned = [...started, open(1), assign("R1M1")];
    expect(workAfter(...assigned)).toEqual({ ...opened, unassigned: ["R1M2"], assigned: ["R1M1"] });
    const announced = workAfter(...assigned, { type: "announce_round", roundId: 1 });
    expect(announced).toEqual({ ...NO_WORK, unassigned: ["R1M2"], assigned: ["R1M1"] });
  });

  it("opens the next round when the last match of a round is completed", () => {
    const forfeited = [...started, open(1, "P01", "P02")];
    expect(workAfter(...forfeited)).toEqual({ ...NO_WORK, announce: [1], open: 2 });
  });

  it("assigns a released match again and contains the withdrawal until it is settled", () => {
    const released: LeagueCommand = { type: "release", matchId: "R1M1", epoch: 1, reason: "unreachable", detail: "" };
    const withdrawals = [{ matchId: "R1M1", epoch: 1, refereeId: "REF01" }];
    const releasedMatch = [...running(["P01", "P02"]), assign("R1M1"), released];
    expect(workAfter(...releasedMatch)).toEqual({ ...NO_WORK, unassigned: ["R1M1"], announce: [1], withdrawals });
    const settle = { type: "settle_withdrawal", matchId: "R1M1", epoch: 1, refereeId: "REF01" } as const;
    expect(workAfter(...releasedMatch, settle).withdrawals).toEqual([]);
  });

  it("asks the format for more rounds after the last match, and completes the league when it has none", () => {
    const finished = [...running(["P01", "P02"])];
    for (let epoch = 1; epoch <= 3; epoch++) {
      finished.push(assign("R1M1", epoch));
      const { league } = afterCommands(finished);
      const match = league.rounds.at(0)?.matches[0];
      if (match)
        finished.push({ type: "report", result: unplayed(league, match, "full"), refereeId: "REF01", seed: "" });
    }
    expect(workAfter(...finished)).toEqual({ ...NO_WORK, announce: [1], pair: true });
    expect(workAfter(...finished, pair())).toEqual({ ...NO_WORK, announce: [1], complete: true });
    expect(workAfter(...finished, pair(), { type: "complete" })).toEqual({ ...NO_WORK, announce: [1] });
  });

  it("assigns a match that is added to the opened round, and not one that is added to a later round", () => {
    const add = (roundId: number): LeagueCommand => ({ type: "schedule", roundId, players: ["P01", "P02"] });
    expect(workAfter(...started, open(1), add(1), add(2)).unassigned).toEqual(["R1M1", "R1M2", "R1M3"]);
  });
});
