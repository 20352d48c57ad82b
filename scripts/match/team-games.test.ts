import { expect, test } from "vitest";
import type { Match, Round } from "../../league-manager/league/league.ts";
import { gamesOfTeams, scoresOf } from "./comparison.ts";

const PLAY = {
  teams: [
    ["P01", "P02"],
    ["P03", "P04"],
  ],
  sides: [
    [0, 1],
    [2, 3],
  ],
};

/** A completed match of Codenames; the members of a side have the same points. */
function matchOf(players: readonly string[], points: readonly number[], faultOf?: string): Match {
  const faults =
    faultOf === undefined ? [] : [{ player_id: faultOf, role: "red_team", code: "G002", cause: "timeout", detail: "" }];
  return {
    matchId: "R1M1",
    roundId: 1,
    status: "completed",
    epoch: 1,
    refereeId: null,
    assignedAt: null,
    aborts: 0,
    logHead: "",
    players,
    outcome: { winner: null, scores: [], points, termination: "normal", reason: "", faults },
  } as unknown as Match;
}

test("the games of teams count for the teams, whichever of their members has a role", () => {
  const matches = [
    matchOf(["P01", "P02", "P03", "P04"], [3, 3, 0, 0]),
    matchOf(["P04", "P03", "P02", "P01"], [3, 3, 0, 0]),
    matchOf(["P02", "P01", "P04", "P03"], [0, 0, 3, 3], "P02"),
    matchOf(["P03", "P04", "P01", "P02"], []),
  ];
  const round = { roundId: 1, matches } as unknown as Round;
  expect(scoresOf(gamesOfTeams([round], PLAY), ["T1", "T2"])).toMatchObject([
    { players: ["T1", "T2"], wins: 1, losses: 2, aborted: 1, pairs: [0, 0, 1, 0, 0], forfeits: [{ timeout: 1 }, {}] },
  ]);
});
