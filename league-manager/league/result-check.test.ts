import { describe, expect, it } from "vitest";
import { codenames } from "#shared/games/codenames.ts";
import type { MatchSummary } from "./events.ts";
import { forfeitOf } from "./outcome.ts";
import { faultOfUnplayed } from "./result-check.ts";
import { CODENAMES, SETTINGS } from "./testing/leagues.ts";

type UnplayedResult = Omit<MatchSummary, "reason">;
const PLAYERS = ["P01", "P02", "P03", "P04"];
const forfeit = (absent: readonly string[]): UnplayedResult => ({
  ...forfeitOf(CODENAMES, PLAYERS, absent, () => "gone"),
  termination: "forfeit",
  log_head: "",
});
const aborted: UnplayedResult = {
  winner: null,
  final_scores: {},
  match_points: {},
  faults: [],
  termination: "aborted",
  log_head: "",
};

describe("the forfeit of a match that is not played", () => {
  it("is a loss of all players in the team of an absent player", () => {
    expect(codenames.info.teams?.map(({ roles }) => roles)).toEqual([
      CODENAMES.roles.slice(0, 2),
      CODENAMES.roles.slice(2),
    ]);
    expect(forfeit(["P02"])).toMatchObject({
      winner: null,
      match_points: { P01: 0, P02: 0, P03: 3, P04: 3 },
      faults: [{ player_id: "P02", role: "red_team", code: "G002", detail: "gone" }],
    });
  });

  it("is a loss of all players if each team has an absent player", () => {
    expect(forfeit(["P01", "P04"]).match_points).toEqual({ P01: 0, P02: 0, P03: 0, P04: 0 });
  });

  it("is a win of the present player in a game of two roles, also of a game that this version does not know", () => {
    expect(forfeitOf({ ...SETTINGS, game: "go.v1" }, ["P01", "P02"], ["P01"], () => "gone")).toMatchObject({
      winner: "P02",
      match_points: { P02: 3 },
    });
  });
});

describe("a result without a session log", () => {
  it.each<[string, UnplayedResult]>([
    ["an abort", aborted],
    ["a forfeit of a role", forfeit(["P03"])],
    ["a forfeit of both teams", forfeit(["P02", "P03"])],
  ])("may be %s", (_, result) => {
    expect(faultOfUnplayed(CODENAMES, PLAYERS, result)).toBe(null);
  });

  const wrongForfeit = "a forfeit without a log must be a loss of the absent players and their teams";
  const notEmpty = "an aborted match without a log has neither winner nor points nor faults";
  it.each<[string, UnplayedResult, string]>([
    ["a played match", { ...aborted, termination: "normal" }, "a result without its log"],
    ["a match with the head of a log", { ...aborted, log_head: "h" }, "a result without its log"],
    ["an abort with a winner", { ...aborted, winner: "P01" }, notEmpty],
    ["an abort with points", { ...aborted, match_points: { P01: 0 } }, notEmpty],
    ["a forfeit without an absent player", forfeit([]), wrongForfeit],
    [
      "a forfeit that the team of the absent player wins",
      { ...forfeit(["P03"]), match_points: forfeit(["P01"]).match_points },
      wrongForfeit,
    ],
    ["a forfeit with a single winner of a team", { ...forfeit(["P03"]), winner: "P01" }, wrongForfeit],
    [
      "a forfeit by another fault",
      { ...forfeit(["P03"]), faults: [{ ...forfeit(["P03"]).faults[0], code: "G001" } as never] },
      wrongForfeit,
    ],
  ])("must not be %s", (_, result, fault) => {
    expect(faultOfUnplayed(CODENAMES, PLAYERS, result)).toBe(fault);
  });
});
