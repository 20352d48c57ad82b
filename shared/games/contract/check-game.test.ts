import { describe, expect, it } from "vitest";
import { withoutVersion } from "../game.ts";
import { BROKEN_RULES, NIM, RPS, withInfo } from "../testing/broken-games.ts";
import { BROKEN_VIEWS } from "../testing/broken-views.ts";
import { checkGame, OBLIGATIONS } from "./check-game.ts";

const VIOLATIONS = [...BROKEN_RULES, ...BROKEN_VIEWS];

describe("a game that violates an obligation", () => {
  it.each(VIOLATIONS)("%s is explained with the values that show it", (id, game, problem, fields) => {
    const { obligations } = checkGame(game, [{}]);
    const checked = obligations.find((one) => one.id === id);
    expect(checked).toMatchObject({ status: "violated", failure: { problem: expect.stringMatching(problem) } });
    expect(Object.keys(checked?.failure?.evidence ?? {})).toEqual(expect.arrayContaining([...fields]));
    expect(checked?.failure?.advice).toMatch(/\w{3}/);
  });

  it("exists in this test for each obligation", () => {
    expect(new Set(VIOLATIONS.map(([id]) => id))).toEqual(new Set(["plays", ...OBLIGATIONS.map(({ id }) => id)]));
  });

  it("is not checked further if it cannot be played", () => {
    const { games, obligations } = checkGame(withInfo({ maxActions: 2, options: {} }), [{}]);
    expect(games).toBe(0);
    expect(obligations.flatMap(({ id, status }) => (status === "skipped" ? [] : [`${id} ${status}`]))).toEqual([
      "plays violated",
      "options kept",
      "option-texts violated",
    ]);
  });
});

it.each([NIM, RPS])("a correct game keeps every obligation, and the report is the same each time", (game) => {
  const report = checkGame(game, [{}]);
  expect(
    report.obligations.filter(({ status }) => status !== "kept"),
    withoutVersion(game.id),
  ).toEqual([]);
  expect(report.games).toBe(4);
  expect(checkGame(game, [{}])).toEqual(report);
});
