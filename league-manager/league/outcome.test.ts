import { describe, expect, it } from "vitest";
import { matchOf } from "./evolve.ts";
import type { Match, MatchFault } from "./league.ts";
import { hasTimedOut, publicReason, restartReason, summaryOf, winnerOf } from "./outcome.ts";
import { afterCommands, played, running } from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];
const scheduled = matchOf(afterCommands(running(PLAYERS)).league, "R1M1") as Match;
const won = matchOf(afterCommands(played(running(PLAYERS), "R1M1")).league, "R1M1") as Match;

describe("the result of a match", () => {
  it("names the winner and the points of its players", () => {
    expect(summaryOf(won)).toMatchObject({ winner: "P02", match_points: { P02: 3, P03: 0 }, termination: "normal" });
    const lost = won.outcome && { ...won.outcome, winner: 1 };
    expect([won, { ...won, outcome: lost }, scheduled].map(winnerOf)).toEqual(["P02", "P03", null]);
  });

  it("does not exist before the match is completed", () => {
    expect(() => summaryOf(scheduled)).toThrow("R1M1 is not completed");
    expect(() => summaryOf({ ...won, logHead: null })).toThrow("R1M1 is not completed");
  });
});

it("the public reason of an abort does not quote an error of a referee", () => {
  expect(publicReason({ termination: "aborted", reason: "ECONNREFUSED 10.0.0.5:8001" })).toBe("aborted");
  for (const reason of ["cancelled", "annulled", "time_of_the_round_is_over"])
    expect(publicReason({ termination: "aborted", reason })).toBe(reason);
  expect(publicReason({ termination: "forfeit", reason: "timeout" })).toBe("timeout");
  expect(publicReason({ termination: "normal", reason: "rounds_won" })).toBe("rounds_won");
});

it("a player has timed out if it did not answer, not if its clock ran out or another player is at fault", () => {
  const late: MatchFault = { player_id: "P02", role: "player_1", code: "G002", cause: "timeout", detail: "" };
  expect(hasTimedOut([late], "P02")).toBe(true);
  expect(hasTimedOut([{ ...late, player_id: "P03" }, late], "P02")).toBe(true);
  expect(hasTimedOut([late], "P03")).toBe(false);
  expect(hasTimedOut([{ ...late, cause: "clock" }], "P02")).toBe(false);
  expect(hasTimedOut([{ ...late, code: "G001" } as MatchFault], "P02")).toBe(false);
  expect(hasTimedOut([], "P02")).toBe(false);
});

it("a new attempt names the former referee and why it lost the match", () => {
  expect(restartReason({ lastRelease: null })).toBe(null);
  expect(restartReason({ lastRelease: { refereeId: "REF01", reason: "overdue" } })).toBe(
    "REF01 did not complete the match in time",
  );
});
