import { describe, expect, it } from "vitest";
import type { LeagueCommand, LeagueSettings } from "./league.ts";
import { enter, given, pair, played, running, SETTINGS } from "./testing/leagues.ts";

describe("a late entry", () => {
  const late = (lateEntry: LeagueSettings["lateEntry"], makeup = false): readonly LeagueCommand[] =>
    running(["P01", "P02"], { ...SETTINGS, lateEntry, ...(makeup && { formatOptions: { makeup } }) });

  it("is rejected by default, and in a round robin without makeup", () => {
    given(...running(["P01", "P02"]))
      .when(enter("P09"))
      .isRejected("L001", "league rps is running and accepts no more players");
    given(...late("forfeit"))
      .when(enter("P09"))
      .isRejected(
        "L001",
        'league rps is running, and its format has no matches for a player that enters now; its config needs "late_entry": "makeup" before the start',
      );
  });

  it("plays the matches that it has missed in further rounds", () => {
    const commands = [...late("makeup", true), enter("P09")];
    given(...late("makeup", true))
      .when(enter("P09"))
      .leadsTo({ type: "player_entered", player_id: "P09", name_commitment: "name of P09", entered_after: 1 });
    const after = played(commands, "R1M1");
    given(...after)
      .when(pair())
      .leadsTo(
        {
          type: "round_paired",
          round_id: 2,
          byes: [],
          label: "Makeup",
          pairings: [{ match_id: "R2M1", players: expect.arrayContaining(["P09"]) as never }],
        },
        {
          type: "round_paired",
          round_id: 3,
          byes: [],
          label: "Makeup",
          pairings: [{ match_id: "R3M1", players: expect.arrayContaining(["P09"]) as never }],
        },
      );
  });

  it("is rejected when the last matches are paired", () => {
    given(...played(late("makeup", true), "R1M1"), pair())
      .when(enter("P09"))
      .isRejected("L001", "league rps is running, and its last matches are paired");
  });

  it("is rejected by a format that has no matches for it, and after the end of the league", () => {
    given(...running(["P01", "P02"], { ...SETTINGS, format: "single-elimination", lateEntry: "forfeit" }))
      .when(enter("P09"))
      .isRejected("L001", "league rps is running, and its format has no matches for a player that enters now");
    given(...played(running(["P01", "P02"]), "R1M1"), pair(), { type: "complete" })
      .when(enter("P09"))
      .isRejected("L001", "league rps is over");
  });

  it("may be added by the operator although the league is closed", () => {
    given(...running(["P01", "P02"], { ...SETTINGS, formatOptions: { makeup: true } }))
      .when(enter("P09", true))
      .leadsTo({
        type: "player_entered",
        player_id: "P09",
        name_commitment: "name of P09",
        entered_after: 1,
        by_operator: true,
      });
  });
});

it("a player leaves a running league with the version of its log, and a completed league not at all", () => {
  const leave: LeagueCommand = { type: "leave", playerId: "P01" };
  given(...running(["P01", "P02"]))
    .when(leave)
    .isRejected("L005", "league rps is running: P01 leaves a running league only with the version of its log");
  given(...played(running(["P01", "P02"]), "R1M1"), pair(), { type: "complete" })
    .when({ ...leave, agentVersion: 3 })
    .leadsTo();
});
