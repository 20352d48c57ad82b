import { expect, it } from "vitest";
import type { LeagueCommand } from "./commands.ts";
import { foldLeague } from "./evolve.ts";
import type { League } from "./league.ts";
import { advanceWork, type OpenWork, openWork } from "./open-work.ts";
import { afterCommands, entered, running, unplayed } from "./testing/leagues.ts";

const assign = (matchId: string, epoch = 1): LeagueCommand => ({ type: "assign", matchId, epoch, refereeId: "REF01" });
const open = (roundId: number, ...shutDown: string[]): LeagueCommand => {
  return { type: "open_round", roundId, shutDown: new Map(shutDown.map((id) => [id, 1])) };
};
const PLAYERS = ["P01", "P02", "P03", "P04"];

/** The open work after these commands, with the ids of matches: as a start derives it, and the same as it is kept up to date by each event. */
function workAfter(...commands: readonly LeagueCommand[]) {
  const { league, events } = afterCommands(commands);
  let kept: OpenWork | null = null;
  for (const [index, event] of events.entries()) {
    const after = foldLeague(events.slice(0, index + 1)) as League;
    kept = kept ? advanceWork(kept, after, event) : openWork(after);
  }
  expect(kept).toEqual(openWork(league));
  const { unassigned, assigned, roundsToAnnounce, ...work } = openWork(league);
  const lists = { unassigned: [...unassigned.keys()], assigned: [...assigned.keys()], announce: [...roundsToAnnounce] };
  return { ...lists, open: work.roundToOpen, withdrawals: work.withdrawals, complete: work.isToComplete };
}

const NOTHING = { unassigned: [], assigned: [], announce: [], open: null, withdrawals: [], complete: false };
const started: readonly LeagueCommand[] = [...entered(PLAYERS), { type: "start" }];

it("an open league has no open work", () => {
  expect(workAfter(...entered(PLAYERS))).toEqual(NOTHING);
});

it("the current round is opened, then announced while its matches are assigned", () => {
  expect(workAfter(...started)).toEqual({ ...NOTHING, open: 1 });
  const opened = { ...NOTHING, unassigned: ["R1M1", "R1M2"], announce: [1] };
  expect(workAfter(...started, open(1))).toEqual(opened);
  const assigned = [...started, open(1), assign("R1M1")];
  expect(workAfter(...assigned)).toEqual({ ...opened, unassigned: ["R1M2"], assigned: ["R1M1"] });
  const announced = workAfter(...assigned, { type: "announce_round", roundId: 1 });
  expect(announced).toEqual({ ...NOTHING, unassigned: ["R1M2"], assigned: ["R1M1"] });
});

it("the next round is opened when the last match of a round is completed", () => {
  const forfeited = [...started, open(1, "P01", "P02")];
  expect(workAfter(...forfeited)).toEqual({ ...NOTHING, announce: [1], open: 2 });
});

it("a match that its referee has lost is assigned again, and the referee is informed", () => {
  const released: LeagueCommand = { type: "release", matchId: "R1M1", epoch: 1, reason: "unreachable", detail: "" };
  const withdrawals = [{ matchId: "R1M1", epoch: 1, refereeId: "REF01" }];
  const lost = [...running(["P01", "P02"]), assign("R1M1"), released];
  expect(workAfter(...lost)).toEqual({ ...NOTHING, unassigned: ["R1M1"], announce: [1], withdrawals });
  const settle = { type: "settle_withdrawal", matchId: "R1M1", epoch: 1, refereeId: "REF01" } as const;
  expect(workAfter(...lost, settle).withdrawals).toEqual([]);
});

it("a league is completed after its last match", () => {
  const finished = [...running(["P01", "P02"])];
  for (let epoch = 1; epoch <= 3; epoch++) {
    finished.push(assign("R1M1", epoch));
    const { league } = afterCommands(finished);
    const match = league.rounds[0]?.matches[0];
    if (match) finished.push({ type: "report", result: unplayed(league, match, "full"), refereeId: "REF01", seed: "" });
  }
  expect(workAfter(...finished)).toEqual({ ...NOTHING, announce: [1], complete: true });
  expect(workAfter(...finished, { type: "complete" })).toEqual({ ...NOTHING, announce: [1] });
});

it("a match that an operator adds to an opened round is assigned, and one of a later round waits", () => {
  const add = (roundId: number): LeagueCommand => ({ type: "schedule", roundId, players: ["P01", "P02"] });
  expect(workAfter(...started, open(1), add(1), add(2)).unassigned).toEqual(["R1M1", "R1M2", "R1M3"]);
});
