import { describe, expect, it } from "vitest";
import { matchOf } from "./evolve.ts";
import type { LeagueCommand, LeagueSettings } from "./league.ts";
import { openWork } from "./open-work.ts";
import { leagueSnapshot, restoreLeague } from "./snapshot.ts";
import { standingsOf } from "./standings-of.ts";
import {
  afterCommands,
  assign,
  enter,
  entered,
  given,
  open,
  pair,
  played,
  resultOf,
  running,
  SEED,
  SETTINGS,
  START,
  WON,
} from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];
const two = running(["P01", "P02"]);
const started = running(PLAYERS);

describe("a paused league", () => {
  const paused: readonly LeagueCommand[] = [...started, { type: "pause" }];

  it("is paused and resumed once, and only while it runs", () => {
    given(...started)
      .when({ type: "pause" })
      .leadsTo({ type: "paused" });
    given(...paused)
      .when({ type: "pause" })
      .leadsTo();
    given(...paused)
      .when({ type: "resume" })
      .leadsTo({ type: "resumed" });
    given(...started)
      .when({ type: "resume" })
      .leadsTo();
    given(...entered(PLAYERS))
      .when({ type: "resume" })
      .isRejected("L005", "league rps is open; only a running league can be resumed");
    given(...entered(PLAYERS))
      .when({ type: "pause" })
      .isRejected("L005", "league rps is open; only a running league can be paused");
  });

  it("assigns no match and opens no round", () => {
    given(...paused)
      .when(assign("R1M1"))
      .isRejected("L005", "league rps is running: the operator has paused it");
    given(...played(started, "R1M1"), { type: "pause" })
      .when(open(2))
      .isRejected("L005", "league rps is running: the operator has paused it");
    given(...paused, { type: "resume" })
      .when(assign("R1M1"))
      .leadsTo({ type: "match_assigned", match_id: "R1M1", epoch: 1, referee_id: "REF01" });
  });

  it("records the results of matches that have begun, and has no other open work", () => {
    const { league } = afterCommands([...started, assign("R1M1"), { type: "pause" }]);
    const result = resultOf(league, matchOf(league, "R1M1") as never, WON);
    const report: LeagueCommand = { type: "report", result, refereeId: "REF01", seed: SEED };
    const after = afterCommands([...started, assign("R1M1"), { type: "pause" }, report]).league;
    expect(after.completedCount).toBe(1);
    expect(openWork(after)).toMatchObject({ roundToOpen: null, isToPair: false, isToComplete: false });
  });

  it("is not completed before it is resumed", () => {
    const all: readonly LeagueCommand[] = [...played(two, "R1M1"), { type: "pause" }];
    given(...all)
      .when({ type: "complete" })
      .isRejected("L005", "league rps is running: the operator has paused it");
    given(...all, { type: "resume" }, pair())
      .when({ type: "complete" })
      .leadsTo({ type: "completed" });
  });
});

describe("a league whose last match is completed", () => {
  const over: readonly LeagueCommand[] = [...played(two, "R1M1"), pair()];

  it("is no longer changed, because its agents may have received its end", () => {
    const changes: readonly LeagueCommand[] = [
      { type: "pause" },
      { type: "extend", formatOptions: { cycles: 2 } },
      { type: "annul", matchId: "R1M1", reason: "wrong rules" },
      { type: "end" },
    ];
    for (const change of changes)
      given(...over)
        .when(change)
        .isRejected("L005", "league rps has completed its last match and ends by itself");
  });
});

describe("the extension of a league", () => {
  const cycles = (number: unknown): LeagueCommand => ({ type: "extend", formatOptions: { cycles: number } });

  it("raises the number of cycles, and the format pairs the further rounds", () => {
    given(...two)
      .when(cycles(2))
      .leadsTo({ type: "extended", format_options: { cycles: 2 } });
    given(...played([...two, cycles(2)], "R1M1"))
      .when(pair())
      .leadsTo({
        type: "round_paired",
        round_id: 2,
        byes: [],
        pairings: [{ match_id: "R2M1", players: ["P02", "P01"] }],
      });
  });

  it("is rejected when the league is completed", () => {
    given(...played(two, "R1M1"), pair(), { type: "complete" })
      .when(cycles(2))
      .isRejected("L005", "league rps is completed; only a running league can be extended");
  });

  it("ends after the further cycles, also if a player has left", () => {
    const left: LeagueCommand = { type: "leave", playerId: "P03", agentVersion: 4 };
    let commands: readonly LeagueCommand[] = [...started, cycles(3)];
    for (const roundId of [1, 2, 3])
      commands = played(roundId > 1 ? [...commands, open(roundId)] : commands, `R${roundId}M1`);
    commands = [...commands, left, pair()];
    for (const roundId of [4, 5]) commands = played([...commands, open(roundId)], `R${roundId}M1`);
    given(...commands)
      .when(pair())
      .leadsTo({ type: "pairing_completed" });
  });

  it("only raises numbers that the format has", () => {
    const rejected = (command: LeagueCommand, message: string): void =>
      given(...two)
        .when(command)
        .isRejected("L001", expect.stringContaining(message) as never);
    rejected(cycles(0), "league rps cannot be extended");
    rejected(cycles("2"), "league rps cannot be extended: cycles");
    rejected(
      { type: "extend", formatOptions: { rounds: 3 } },
      "league rps cannot be extended by rounds: its format is round-robin, and only cycles can be raised",
    );
    rejected({ type: "extend", formatOptions: { makeup: true } }, "cannot be extended by makeup");
    given(...two, cycles(3))
      .when(cycles(2))
      .isRejected("L001", "league rps cannot be extended: cycles must be a number of at least 3");
    given(...two)
      .when(cycles(1))
      .leadsTo();
  });
});

describe("a match that the operator annuls", () => {
  const annul = (matchId: string): LeagueCommand => ({ type: "annul", matchId, reason: "a bot used the network" });

  it("counts for no player, and its points are taken back", () => {
    const commands = played(two, "R1M1");
    given(...commands)
      .when(annul("R1M1"))
      .leadsTo({
        type: "match_annulled",
        match_id: "R1M1",
        epoch: 1,
        reason: "a bot used the network",
        match_points: { P01: 3, P02: 0 },
      });
    const { league } = afterCommands([...commands, annul("R1M1")]);
    expect(matchOf(league, "R1M1")).toMatchObject({
      status: "completed",
      outcome: { termination: "aborted", points: [] },
    });
    expect(league).toMatchObject({ completedCount: 1, annulledCount: 1 });
    given(...commands, annul("R1M1"))
      .when(annul("R1M1"))
      .leadsTo();
    const rows = standingsOf(league, [{ player_id: "P01", display_name: "Ann" }]);
    expect(rows).toMatchObject([{ played: 0, points: 0 }]);
  });

  it("is withdrawn from its referee if it is being played, and is then completed", () => {
    const { league } = afterCommands([...two, assign("R1M1"), annul("R1M1")]);
    expect(league.withdrawals).toEqual([{ matchId: "R1M1", epoch: 1, refereeId: "REF01" }]);
    expect(league).toMatchObject({ completedCount: 1, currentRound: null });
    given(...two, assign("R1M1"))
      .when({ type: "annul", matchId: "R1M1", reason: "x".repeat(301) })
      .leadsTo({ type: "match_annulled", match_id: "R1M1", epoch: 1, reason: "x".repeat(300) });
  });

  it("is rejected as soon as the pairings of a later round depend on it", () => {
    const swiss = running(["P01", "P02", "P03", "P04"], { ...SETTINGS, format: "swiss", formatOptions: { rounds: 3 } });
    const first = played(played(swiss, "R1M1"), "R1M2");
    expect(afterCommands([...first, annul("R1M1")]).league.annulledCount).toBe(1);
    given(...first, pair())
      .when(annul("R1M1"))
      .isRejected("G005", "rps/R1M1 cannot be annulled: the pairings of round 2 depend on it");
    const second = afterCommands([...first, pair(), open(2), annul("R2M1")]).league;
    expect(second.annulledCount).toBe(1);
    const ladder = [...entered([...PLAYERS, "P04"], { ...SETTINGS, format: "ladder" }), START, pair(1)];
    given(...ladder, pair(1))
      .when(annul("R1M1"))
      .isRejected("G005", "rps/R1M1 cannot be annulled: the pairings of round 2 depend on it");
    expect(afterCommands([...ladder, annul("R1M1")]).league.annulledCount).toBe(1);
  });

  it("must exist in a running league", () => {
    given(...two)
      .when(annul("R9M9"))
      .isRejected("G003", "no match rps/R9M9");
    given(...played(two, "R1M1"), pair(), { type: "complete" })
      .when(annul("R1M1"))
      .isRejected("L005", "league rps is completed; its matches cannot be annulled");
  });
});

it("the rules of the operation are in the events and in snapshots", () => {
  const settings: LeagueSettings = {
    ...SETTINGS,
    lateEntry: "makeup",
    formatOptions: { makeup: true },
    startsAt: "2026-05-04T14:00:00Z",
    roundMs: 60_000,
  };
  const { events } = afterCommands([{ type: "open", settings }]);
  expect(events[0]).toMatchObject({ late_entry: "makeup", starts_at: "2026-05-04T14:00:00Z", round_ms: 60_000 });
  given({ type: "open", settings }).when({ type: "open", settings }).leadsTo();
  given({ type: "open", settings: SETTINGS })
    .when({ type: "open", settings })
    .leadsTo(expect.objectContaining({ type: "reconfigured", round_ms: 60_000 }) as never);
  const commands = [...running(["P01", "P02"], settings), enter("P09"), { type: "pause" } as const];
  const { league } = afterCommands(commands);
  const { head, rounds } = leagueSnapshot(league);
  expect(restoreLeague({ head, rounds })).toEqual(league);
  expect(league).toMatchObject({ lateEntries: { P09: 1 }, isPaused: true });
  expect([...league.rounds]).toMatchObject([{ openedAt: expect.any(String) }]);
});
