import { describe, expect, it } from "vitest";
import type { LeagueCommand, LeagueSettings } from "./league.ts";
import { openWork } from "./open-work.ts";
import { standingsOf } from "./standings-of.ts";
import {
  afterCommands,
  assign,
  entered,
  given,
  open,
  pair,
  played,
  running,
  SETTINGS,
  START,
} from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];
const two = running(["P01", "P02"]);
const started = running(PLAYERS);

describe("a league that the operator ends", () => {
  const end: LeagueCommand = { type: "end" };
  const ended = { type: "pairing_completed", by: "operator" } as const;
  const cancelled = (match_id: string) => ({ type: "match_cancelled", match_id, epoch: 1 }) as const;

  it("cancels every match that is not completed, also those of rounds that are not opened", () => {
    given(...played(started, "R1M1"), open(2), assign("R2M1"))
      .when(end)
      .leadsTo(ended, cancelled("R2M1"), cancelled("R3M1"));
    const { league } = afterCommands([...played(started, "R1M1"), open(2), assign("R2M1"), end]);
    expect(league).toMatchObject({
      completedCount: 3,
      currentRound: null,
      openRounds: [],
      withdrawals: [{ matchId: "R2M1", refereeId: "REF01" }],
    });
    expect(openWork(league)).toMatchObject({ roundToOpen: null, isToPair: false, isToComplete: true });
  });

  it("is completed with the standings so far", () => {
    const before = played(started, "R1M1");
    const rows = PLAYERS.map((player_id) => ({ player_id, display_name: player_id }));
    const standings = standingsOf(afterCommands(before).league, rows);
    given(...before, end)
      .when({ type: "complete" })
      .leadsTo({ type: "completed" });
    expect(standingsOf(afterCommands([...before, end, { type: "complete" }]).league, rows)).toEqual(standings);
  });

  it("may be paused, and is then completed without being resumed", () => {
    const paused: readonly LeagueCommand[] = [...two, { type: "pause" }];
    given(...paused)
      .when(end)
      .leadsTo(ended, cancelled("R1M1"));
    given(...paused, end)
      .when({ type: "complete" })
      .leadsTo({ type: "completed" });
  });

  it("may have a format that pairs no more rounds, while its last matches are open", () => {
    const settings: LeagueSettings = { ...SETTINGS, format: "match", formatOptions: { games: 2 } };
    const paired: readonly LeagueCommand[] = [...entered(["P01", "P02"], settings), START, pair(5), pair(5)];
    expect(afterCommands(paired).league).toMatchObject({ isPairingComplete: true, completedCount: 0 });
    given(...paired)
      .when(end)
      .leadsTo(ended, cancelled("R1M1"), cancelled("R1M2"));
  });

  it("must be running, and is ended once", () => {
    given(...entered(PLAYERS))
      .when(end)
      .isRejected("L005", "league rps is open; only a running league can be ended");
    given(...two, end)
      .when(end)
      .isRejected("L005", "league rps is already ended by the operator");
    given(...two, end, { type: "complete" })
      .when(end)
      .isRejected("L005", "league rps is completed; only a running league can be ended");
    given(...played(two, "R1M1"), pair())
      .when(end)
      .isRejected("L005", "league rps has completed its last match and ends by itself");
  });

  it("is not paused, extended or resumed any more, and accepts no player", () => {
    const over: readonly LeagueCommand[] = [...two, end];
    given(...over)
      .when({ type: "pause" })
      .isRejected("L005", "league rps is already ended by the operator");
    given(...over)
      .when({ type: "extend", formatOptions: { cycles: 2 } })
      .isRejected("L005", "league rps is already ended by the operator");
    given(...over)
      .when({ type: "resume" })
      .leadsTo();
    given(...over)
      .when(pair())
      .leadsTo();
  });
});
