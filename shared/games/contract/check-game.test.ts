import { describe, expect, it } from "vitest";
import { type Game, withoutVersion } from "../game.ts";
import { BROKEN_RULES, heapOf, NIM, RPS, withInfo } from "../testing/broken-games.ts";
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

describe("a function that returns a value of a wrong type", () => {
  it.each([
    ["initialState", { initialState: async () => ({}) }, "a Promise, not a JSON value", /^remove async/],
    ["initialState", { initialState: () => ({ left: 5n }) }, "an object, not a JSON value", /no undefined/],
    ["toAct", { toAct: async () => ["first_player"] }, "a Promise, not a list of roles", /^remove async/],
    ["legalActions", { legalActions: () => undefined }, "undefined, not a list of actions", /^return a list/],
    ["applyAction", { applyAction: () => ({}) }, "an object, not ok(nextState)", /^return ok/],
    ["isTerminal", { isTerminal: () => 1 }, "a number, not true or false", /^return true or false/],
    ["outcome", { outcome: () => undefined }, "undefined, not null or { scores", /^return null while the game goes on/],
    ["viewState", { viewState: () => undefined }, "undefined, not a JSON value", /no undefined/],
    ["toText", { toText: () => 5 }, "a number, not a text", /^return a text/],
    ["rounds", { rounds: () => null }, "null, not a list of rounds", /^return a list/],
  ])("is reported once: %s %#", (call, wrong, returned, advice) => {
    const { obligations } = checkGame({ ...NIM, ...wrong } as unknown as Game, [{}]);
    const [failure, ...others] = obligations.flatMap((checked) => checked.failure ?? []);
    expect(failure?.problem).toContain(`${call} returns ${returned}`);
    expect(failure?.advice).toMatch(advice);
    expect(failure?.evidence).toHaveProperty("actual");
    expect(others).toEqual([]);
  });
});

it("an exception is reported once, and the later checks that it ends are skipped", () => {
  const outcome: Game["outcome"] = (state) => {
    if (heapOf(state) > 0) return null;
    throw new Error("no luck");
  };
  const { obligations } = checkGame({ ...NIM, outcome }, [{}]);
  expect(obligations.flatMap(({ id, status }) => (status === "kept" ? [] : [`${id} ${status}`]))).toEqual([
    "ending violated",
    "outcome skipped",
    "teams skipped",
    "plain-json skipped",
    "seed skipped",
  ]);
});

it("the evidence of another first state has no earlier state", () => {
  let calls = 0;
  const initialState: Game["initialState"] = () => ({ left: 5, turn: "first_player", call: calls++ });
  const { obligations } = checkGame({ ...NIM, initialState }, [{}]);
  const { evidence } = obligations.find(({ id }) => id === "replay")?.failure ?? {};
  expect(evidence).toMatchObject({ step: 0, expected: { call: 0 } });
  expect(evidence).not.toHaveProperty("state");
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
