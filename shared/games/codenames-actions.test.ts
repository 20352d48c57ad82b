/**
 * The actions of Codenames: which role may act at which time, which actions are malformed, and how people write
 * actions.
 */
import { describe, expect, it } from "vitest";
import { codenames } from "./codenames.ts";
import type { CodenamesState } from "./codenames-view.ts";
import { readMove, wordOf } from "./move-text.ts";
import { act, begin, coveredOf, play, rejection, wordsWith } from "./testing/codenames.ts";

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
const red = (): CodenamesState => begin({ starting_team: "red" });

describe("codenames.v1, the role to act", () => {
  const clue = { type: "clue", word: "CLUE", number: 1 };
  const guess = { type: "guess", word: red().cards[0]?.word };
  const pass = { type: "pass" };
  const skip = { type: "skip", reason: "no_answer" };
  it.each([
    ["", "red_spymaster", [clue, skip]],
    ["clue 2", "red_team", [guess, skip]],
    [
      "clue 2, own",
      "red_team",
      [{ ...guess, word: red().cards.findLast((card) => card.identity === "red")?.word }, pass, skip],
    ],
    ["clue 2, neutral", "blue_spymaster", [clue, skip]],
    ["clue 2, neutral, clue 2", "blue_team", [{ type: "guess", word: coveredOf(red(), "red")[0] }, skip]],
  ])("after %j only %s may act", (script, role, allowed) => {
    const state = play(red(), script);
    expect(codenames.toAct(state)).toEqual([role]);
    for (const action of allowed) expect(rejection(state, role, action)).toBe(null);
    for (const viewer of [...ROLES, "spectator", "", "__proto__", "red"].filter((name) => name !== role)) {
      expect(codenames.legalActions(state, viewer)).toEqual([]);
      for (const action of [clue, guess, pass, skip])
        expect(rejection(state, viewer, action)).toBe(`it is ${role}'s turn`);
    }
  });

  const form =
    'send {"type": "clue", "word", "number": 0 to 9 or "unlimited"}, {"type": "guess", "word"} or {"type": "pass"}';
  it.each([
    ["a guess instead of a clue", "", guess, "give a clue"],
    ["a pass instead of a clue", "", pass, "give a clue"],
    ["a clue instead of a guess", "clue", clue, "guess a word"],
    ["a pass without a guess", "clue", pass, "guess at least one word before you pass"],
    ["null", "", null, form],
    ["text", "", "CLUE 1", form],
    ["a list", "", [clue], form],
    ["an action without a type", "", { word: "CLUE", number: 1 }, form],
    ["an action of an unknown type", "", { ...clue, type: "hint" }, form],
    ["a clue with an additional field", "", { ...clue, for: "WHALE" }, form],
    ["a clue with a prototype", "", JSON.parse('{"__proto__": 1, "type": "clue", "word": "CLUE", "number": 1}'), form],
    ["a clue without a number", "", { type: "clue", word: "CLUE" }, form],
    ["a clue without a word", "", { type: "clue", number: 1 }, form],
    ["a word that is a number", "", { ...clue, word: 1 }, form],
    ["a word that is too long", "", { ...clue, word: "A".repeat(101) }, form],
    ["a guess by position", "clue", { type: "guess", word: 3 }, form],
    ["a skip without a reason", "", { type: "skip" }, form],
    ["a skip for an unknown reason", "", { type: "skip", reason: "x" }, form],
  ])("an unparsed action from a log is rejected: %s", (_name, script, action, message) => {
    const state = play(red(), script);
    expect(rejection(state, codenames.toAct(state)[0] ?? "", action)).toBe(message);
  });

  it.each([-1, 10, 1.5, "3", null, Number.NaN, Number.POSITIVE_INFINITY, "Unlimited", "", true, [1]])(
    "a clue for %j is rejected, parsed or not",
    (number) => {
      expect(rejection(red(), "red_spymaster", { ...clue, number })).toBe(form);
      expect(codenames.action.safeParse({ ...clue, number }).success).toBe(false);
    },
  );

  it.each([0, 1, 9, "unlimited"])("a clue for %j is accepted, parsed or not", (number) => {
    const state = act(red(), { ...clue, word: " clue ", number } as never);
    expect(state.turns[0]?.clue).toEqual({ word: "CLUE", number });
    expect(codenames.action.parse({ ...clue, word: "clue", number })).toEqual({ ...clue, number });
  });
});

describe("codenames.v1, an action as text", () => {
  const words = wordsWith("Whale", "Café", "New York", "Guess work", "Work", "Pass", "Guess");
  const toClue = begin({ words });
  const toGuess = play(toClue, "clue 9");
  const clue = (word: string, number: number | "unlimited") => ({ type: "clue", word, number });
  const guess = (word: string) => ({ type: "guess", word });

  it.each([
    ["OCEAN 3", clue("OCEAN", 3)],
    [" ocean  3 ", clue("OCEAN", 3)],
    ["ocean, 0", clue("OCEAN", 0)],
    ["ocean:9", clue("OCEAN", 9)],
    ["clue: ocean, 3", clue("OCEAN", 3)],
    ["Clue ocean 3", clue("OCEAN", 3)],
    ["Ocean unlimited", clue("OCEAN", "unlimited")],
    ["clue: OCEAN, Unlimited", clue("OCEAN", "unlimited")],
    ["clue 3", clue("CLUE", 3)],
    ["clueless 3", clue("CLUELESS", 3)],
    ["unlimited 3", clue("UNLIMITED", 3)],
    ["zoë 1", clue("ZOË", 1)],
    ["zoe\u0308 1", clue("ZOË", 1)],
    ["straße 1", clue("STRASSE", 1)],
    ["море 2", clue("МОРЕ", 2)],
    ['{"type": "clue", "word": "OCEAN", "number": 3}', clue("OCEAN", 3)],
  ])("a spymaster's text %j is read as %j", (text, action) => {
    expect(readMove(codenames as never, toClue, `${toClue.turn}_spymaster`, text)).toEqual(action);
  });

  it.each([
    "",
    "ocean",
    "3",
    "ocean 10",
    "ocean -1",
    "ocean 1.5",
    "two words 3",
    "o-cean 3",
    "ocean3",
    "3 ocean",
    "pass",
    "__proto__ 1",
    "clue",
    "🙂 1",
  ])("a spymaster's text %j is not a clue", (text) => {
    const read = readMove(codenames as never, toClue, `${toClue.turn}_spymaster`, text);
    expect(codenames.action.safeParse(read).success).toBe(false);
  });

  it.each([
    ["whale", guess("WHALE")],
    ["guess whale", guess("WHALE")],
    ["Guess: WHALE", guess("WHALE")],
    ["cafe", guess("CAFÉ")],
    ["CAFE\u0301", guess("CAFÉ")],
    ["new york", guess("NEW YORK")],
    ["guess newyork", guess("NEW YORK")],
    ["guess work", guess("GUESS WORK")],
    ["guess guess work", guess("GUESS WORK")],
    ["work", guess("WORK")],
    ["guess", guess("GUESS")],
    ["pass", { type: "pass" }],
    [" Pass ", { type: "pass" }],
    ["guess pass", guess("PASS")],
    ['{"type": "guess", "word": "whale"}', { type: "guess", word: "whale" }],
  ])("a team's text %j is read as %j", (text, action) => {
    expect(readMove(codenames as never, toGuess, `${toGuess.turn}_team`, text)).toEqual(action);
  });

  it.each(["", "whales", "guess: kraken", "ocean 3", "guess", "guess:", "__proto__", "constructor", "null"])(
    "a team's text %j is not a guess",
    (text) => {
      const other = play(begin({ words: wordsWith("Whale") }), "clue 9");
      const read = readMove(codenames as never, other, `${other.turn}_team`, text);
      expect(codenames.action.safeParse(read).success).toBe(false);
    },
  );
});

it.each([
  [{ type: "clue", word: "OCEAN", number: 2 }, "OCEAN 2"],
  [{ type: "clue", word: "OCEAN", number: "unlimited" }, "OCEAN unlimited"],
  [{ type: "guess", word: "NEW YORK" }, "NEW YORK"],
  [{ type: "pass" }, "pass"],
  [{ type: "skip", reason: "no_answer" }, "gives up the turn (no answer)"],
  [{ type: "dance" }, '{"type":"dance"}'],
])("the action %j is shown as %j", (action, text) => expect(wordOf(action, codenames as never)).toBe(text));
