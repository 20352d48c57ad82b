import { describe, expect, it } from "vitest";
import { scheduleMatch, startLeague } from "./league-commands.ts";
import { given, givenState, open, player, startedLeague, stateAfter } from "./testing/commands.ts";

describe("a match that an operator adds", () => {
  const started = startedLeague("rps", 2);

  it("is added to the running league that has both players", () => {
    const added = { leagueId: "rps", matchId: "R2M1", roundId: 2, roles: { player_1: "P02", player_2: "P01" } };
    given(...started)
      .when(scheduleMatch(null, ["P02", "P01"], 2))
      .leadsTo("rps match_scheduled")
      .replies(added);
    given(...started)
      .when(scheduleMatch("rps", ["P02", "P01"], 2))
      .replies(added);
    given(...started)
      .when(scheduleMatch("rps", ["P02", "P01"], 1))
      .replies({ matchId: "R1M2" });
  });

  it.each<[string | null, readonly string[], number, string, string]>([
    ["gone", ["P01", "P02"], 2, "L005", "no league gone; there are rps"],
    ["rps", ["P09", "P02"], 2, "L004", "P09 is not in league rps"],
    ["rps", ["P01", "REF01"], 2, "L004", "REF01 is not in league rps"],
    [null, ["P09", "P02"], 2, "L004", "no player P09 is registered"],
    [null, ["P01", "REF01"], 2, "L004", "no player REF01 is registered"],
    ["rps", ["P01", "P02"], 3, "G003", "there is no round 3; choose a round from 1 to 2"],
  ])("is rejected in league %s for %j in round %i", (leagueId, players, roundId, error_code, message) => {
    const decided = scheduleMatch(leagueId, players, roundId)(stateAfter(started), "");
    expect(decided).toMatchObject({ ok: false, error: { error_code, message } });
  });

  it("is rejected without a league id if no running league or several running leagues have its players", () => {
    const both = [open("rps", "b"), ...startedLeague("rps", 2)];
    const match = scheduleMatch(null, ["P01", "P02"], 2);
    given(open("rps"), player("A", { port: 1 }), player("B", { port: 2 }))
      .when(match)
      .isRejected(
        "L005",
        "P01 and P02 are in no running league together: rps has not started. Matches are added while a league runs",
      );
    const { leagues, ...rest } = stateAfter([...both, startLeague("b", "seed")]);
    const over = new Map([...leagues].map(([id, league]) => [id, { ...league, status: "completed" as const }]));
    givenState({ ...rest, leagues: over })
      .when(match)
      .isRejected(
        "L005",
        "P01 and P02 are in no running league together: rps is over, b is over. Matches are added while a league runs",
      );
    const message = "P01 and P02 are in several running leagues: pass league_id, one of rps, b";
    given(...both, startLeague("b", "seed"))
      .when(match)
      .isRejected("L005", message, { context: { choices: ["rps", "b"] } });
  });
});
