import { describe, expect, it, test } from "vitest";
import { type CodenamesState, codenames } from "#shared/games/codenames.ts";
import type { Said } from "#shared/rpc/input.ts";
import { again, firstPending, MAX_ATTEMPTS, type Pending, stepOf, wordsIn } from "./flow.ts";

const pending = (stage: Pending["stage"], more: Partial<Pending> = {}): Pending => ({
  ...{ tick: 4, stage, attempt: 1, problem: null },
  ...more,
});
const text = (said: string): Said => ({ kind: "text", text: said });
const form = (content: Record<string, unknown>): Said => ({ kind: "form", action: "accept", content });
const left = (action: "decline" | "cancel"): Said => ({ kind: "form", action, content: {} });
const FAILED: Said = { kind: "failed", why: "the time was over" };

const GUESS = { type: "guess", word: "WHALE" };

describe("what a model says", () => {
  it.each<[string, Pending["stage"], string, object]>([
    ["a guess", "guess", '{"guess": "WHALE"}', GUESS],
    ["with spaces around", "guess", ' \n{"guess":"WHALE"}\n ', GUESS],
    ["in a block of code", "guess", '```\n{"guess": "WHALE"}\n```', GUESS],
    ["in a block of JSON", "guess", '```json\n{"guess": "WHALE"}\n```', GUESS],
    ["in a block on one line", "guess", '```json {"guess": "WHALE"}```', GUESS],
    ["a key twice", "guess", '{"guess": "OTHER", "guess": "WHALE"}', GUESS],
    ["a clue", "clue", '{"clue": "OCEAN", "number": 2}', { type: "clue", word: "OCEAN", number: 2 }],
    ["no limit", "clue", '{"clue": "SEA", "number": "unlimited"}', { type: "clue", word: "SEA", number: "unlimited" }],
    ["stopping", "continue", '{"continue": false}', { type: "pass" }],
  ])("is taken: %s", (_name, stage, said, action) => {
    expect(stepOf(pending(stage), text(said), "llm")).toEqual({ kind: "act", action });
  });

  it.each<[string, Pending["stage"], string]>([
    ["words around", "guess", 'I guess {"guess": "WHALE"}'],
    ["words behind a block", "guess", '```json\n{"guess": "WHALE"}\n``` it is'],
    ["two blocks", "guess", '```\n{"guess": "A"}\n```\n```\n{"guess": "B"}\n```'],
    ["three quotes alone", "guess", "```"],
    ["an empty block", "guess", "``````"],
    ["an array", "guess", '[{"guess": "WHALE"}]'],
    ["a nested answer", "guess", '{"answer": {"guess": "WHALE"}}'],
    ["more than was asked", "guess", '{"guess": "WHALE", "why": "it swims"}'],
    ["a word that is none", "guess", '{"guess": ["WHALE"]}'],
    ["a prototype", "guess", '{"__proto__": {"guess": "WHALE"}}'],
    ["a prototype beside", "guess", '{"guess": "WHALE", "constructor": {"prototype": {}}}'],
    ["text", "guess", "WHALE"],
    ["null", "guess", "null"],
    ["nothing", "guess", ""],
    ["two objects", "guess", '{"guess": "A"}{"guess": "B"}'],
    ["the clue of another question", "guess", '{"clue": "OCEAN", "number": 2}'],
    ["a number in quotes", "clue", '{"clue": "OCEAN", "number": "2"}'],
    ["a number too large", "clue", '{"clue": "OCEAN", "number": 10}'],
    ["a number below", "clue", '{"clue": "OCEAN", "number": -1}'],
    ["half a number", "clue", '{"clue": "OCEAN", "number": 1.5}'],
    ["no number", "clue", '{"clue": "OCEAN"}'],
    ["yes in words", "continue", '{"continue": "yes"}'],
  ])("is told back: %s", (_name, stage, said) => {
    expect(stepOf(pending(stage), text(said), "llm")).toMatchObject({
      kind: "ask",
      pending: { tick: 4, stage, attempt: 2, problem: expect.stringContaining("alone, without a word around it") },
    });
  });

  test("a prototype key changes no object's prototype", () => {
    stepOf(pending("guess"), text('{"__proto__": {"polluted": true}, "guess": "WHALE"}'), "llm");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    ["spaces in an open block", `\`\`\`${" ".repeat(100_000)}x`],
    ["spaces", " ".repeat(1_000_000)],
    ["brackets", "[".repeat(100_000)],
    ["a long word", JSON.stringify({ guess: "W".repeat(1_000_000) })],
  ])("however huge it is, is told back: %s", (_name, said) => {
    expect(stepOf(pending("guess"), text(said), "llm")).toMatchObject({ kind: "ask", pending: { attempt: 2 } });
    expect(wordsIn(text(said))).toHaveProperty("problem");
  });
});

describe("what a person says", () => {
  it.each<[Pending["stage"], Record<string, unknown>, object]>([
    ["clue", { word: "OCEAN", number: "2" }, { type: "clue", word: "OCEAN", number: 2 }],
    ["clue", { word: "OCEAN", number: 2 }, { type: "clue", word: "OCEAN", number: 2 }],
    ["clue", { word: "OCEAN", number: "unlimited" }, { type: "clue", word: "OCEAN", number: "unlimited" }],
    ["guess", { word: "WHALE" }, GUESS],
    ["continue", { go_on: false }, { type: "pass" }],
  ])("is taken: %s %j", (stage, content, action) => {
    expect(stepOf(pending(stage), form(content), "user")).toEqual({ kind: "act", action });
  });

  it.each<[Pending["stage"], Record<string, unknown>]>([
    ["clue", {}],
    ["clue", { word: "OCEAN", number: "10" }],
    ["clue", { word: 7, number: "1" }],
    ["guess", { word: null }],
    ["continue", { go_on: "true" }],
  ])("is told back: %s %j", (stage, content) => {
    const problem = "the form was not filled in as asked";
    expect(stepOf(pending(stage), form(content), "user")).toMatchObject({
      kind: "ask",
      pending: { attempt: 2, problem },
    });
  });

  it.each(["decline", "cancel"] as const)(
    "who leaves by %s is asked whether the game goes on, and comes back to the same question",
    (action) => {
      const asked = pending("guess", { attempt: 2 });
      const leave = stepOf(asked, left(action), "user");
      expect(leave).toEqual({ kind: "ask", pending: { ...asked, stage: "leave", left: "guess" } });
      if (leave.kind !== "ask") return;
      expect(stepOf(leave.pending, form({ go_on: false }), "user")).toEqual({ kind: "end" });
      for (const back of [form({ go_on: true }), left("cancel"), left("decline"), form({ go_on: "no" }), FAILED]) {
        expect(stepOf(leave.pending, back, "user")).toEqual({
          kind: "ask",
          pending: { tick: 4, stage: "guess", attempt: 3, problem: "the form was left" },
        });
      }
    },
  );
});

test("a form is no answer to a prompt, nor a text to a form", () => {
  expect(stepOf(pending("guess"), form({ word: "WHALE" }), "llm")).toMatchObject({
    kind: "ask",
    pending: { attempt: 2 },
  });
  expect(stepOf(pending("guess"), left("cancel"), "llm")).toMatchObject({ kind: "ask", pending: { stage: "guess" } });
  expect(stepOf(pending("guess"), text('{"guess": "WHALE"}'), "user")).toMatchObject({ kind: "ask" });
});

test("going on is decided apart: the guess is asked next, for the first time", () => {
  const next = { kind: "ask", pending: pending("guess") };
  expect(stepOf(pending("continue", { attempt: 3, problem: "?" }), text('{"continue": true}'), "llm")).toEqual(next);
  expect(stepOf(pending("continue"), form({ go_on: true }), "user")).toEqual(next);
});

test("three attempts, then the turn passes, and the log says why in no words of the player's", () => {
  const said = ["x", "y", "I say: GUESS APPLE AND PEAR"];
  let now = pending("clue");
  for (const one of said.slice(0, -1)) {
    const step = stepOf(now, text(one), "llm");
    if (step.kind !== "ask") throw new Error("given up too early");
    now = step.pending;
  }
  expect(now.attempt).toBe(MAX_ATTEMPTS);
  expect(stepOf(now, text(said[2] ?? ""), "llm")).toEqual({
    kind: "act",
    action: { type: "skip", reason: "not_as_asked" },
  });
  expect(stepOf(now, FAILED, "llm")).toEqual({ kind: "act", action: { type: "skip", reason: "no_answer" } });
  const illegal = { problem: "the clue APPLEPEAR contains APPLE", reason: "illegal_clue" } as const;
  expect(again(now, "clue", illegal)).toEqual({ kind: "act", action: { type: "skip", reason: "illegal_clue" } });
  expect(stepOf({ ...now, stage: "leave", left: "clue" }, left("cancel"), "user")).toEqual({
    kind: "act",
    action: { type: "skip", reason: "form_left" },
  });
});

test("every question's place in the game", () => {
  const at = (state: unknown, tick: number) => firstPending(state as CodenamesState, tick);
  const begin = codenames.initialState({ options: codenames.options.parse({}), seed: "flow" });
  expect(at(begin, 0)).toEqual({ tick: 0, stage: "clue", attempt: 1, problem: null });
  const clue = codenames.applyAction(begin, `${begin.turn}_spymaster`, { type: "clue", word: "ZZZZ", number: 2 });
  if (!clue.ok) throw new Error(clue.error.message);
  expect(at(clue.value, 1).stage).toBe("guess");
  const own = begin.cards.find(({ identity }) => identity === begin.turn)?.word ?? "";
  const guess = codenames.applyAction(clue.value, `${begin.turn}_team`, { type: "guess", word: own });
  expect(guess.ok && at(guess.value, 2).stage).toBe("continue");
});

describe("words for a board", () => {
  const words = Array.from({ length: 26 }, (_, place) => String.fromCharCode(65 + place).repeat(3));
  const typed = (said: unknown): Said => form({ words: said });
  it.each<[string, Said]>([
    ["commas", typed(words.join(", "))],
    ["lines and semicolons", typed(words.join(";\n"))],
    ["a list", typed(words)],
    ["lower case", typed(words.join(",").toLowerCase())],
    ["one twice", typed([words[0], ...words].join(","))],
    ["JSON", text(JSON.stringify(words))],
    ["a block of JSON", text(`\`\`\`json\n${JSON.stringify(words)}\n\`\`\``)],
  ])("are taken: %s", (_name, said) => {
    expect(wordsIn(said)).toEqual({ words: words.slice(0, 25) });
  });

  it.each<[string, Said, RegExp]>([
    ["fewer", typed(words.slice(0, 24).join(",")), /25 different words are needed, these are 24/],
    ["one in two spellings", typed(["Café", "CAFE", ...words.slice(0, 23)].join(",")), /these are 24/],
    ["none", typed(""), /these are 0/],
    ["digits", typed([...words.slice(0, 24), "R2D2"].join(",")), /has letters, at most 30: R2D2/],
    ["one too long", typed([...words.slice(0, 24), "X".repeat(5_000)].join(",")), /at most 30: X{40}$/],
    ["an object", text('{"words": []}'), /give a list of 25 words/],
    ["things that are no words", text(`[${'{"toString": 1},'.repeat(24)}{}]`), /give a list of 25 words/],
    ["lists in lists", text(`${"[".repeat(4_000)}${"]".repeat(4_000)}`), /give a list of 25 words/],
    ["numbers and null", text(JSON.stringify([1, null, ...words.slice(0, 23)])), /give a list of 25 words/],
    ["prose", text(`Here you are: ${words.join(", ")}`), /give a list of 25 words/],
    ["no field", form({}), /give a list of 25 words/],
    ["no answer", FAILED, /no answer came: the time was over/],
  ])("are told back: %s", (_name, said, problem) => {
    expect(wordsIn(said)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
