import { describe, expect, it, test } from "vitest";
import { codenames } from "#shared/games/codenames.ts";
import type { CodenamesState } from "#shared/games/codenames-view.ts";
import type { CallerAnswer } from "#shared/rpc/jsonrpc/caller-input.ts";
import { again, firstPending, MAX_ATTEMPTS, type Pending, stepOf, wordsIn } from "./questions.ts";

const pending = (stage: Pending["stage"], more: Partial<Pending> = {}): Pending => ({
  tick: 4,
  stage,
  attempt: 1,
  problem: null,
  ...more,
});
const text = (answer: string): CallerAnswer => ({ kind: "text", text: answer });
const form = (content: Record<string, unknown>): CallerAnswer => ({ kind: "form", action: "accept", content });
const left = (action: "decline" | "cancel"): CallerAnswer => ({ kind: "form", action, content: {} });
const FAILED: CallerAnswer = { kind: "failed", reason: "the time limit was exceeded" };

const GUESS = { type: "guess", word: "WHALE" };

describe("the text of a model", () => {
  it.each([
    ["a guess", '{"guess": "WHALE"}'],
    ["with spaces around", ' \n{"guess":"WHALE"}\n '],
    ["in a block of code", '```\n{"guess": "WHALE"}\n```'],
    ["in a block of JSON", '```json\n{"guess": "WHALE"}\n```'],
    ["in a block on one line", '```json {"guess": "WHALE"}```'],
    ["a key twice", '{"guess": "OTHER", "guess": "WHALE"}'],
    ["with words around", 'I guess {"guess": "WHALE"}, because it swims.'],
    ["with words behind a block", '```json\n{"guess": "WHALE"}\n``` it is'],
    ["with brackets in the words around", 'Of {sea, land} I take {"guess": "WHALE"} [sea].'],
    ["with a bracket that never closes", 'Hm { then {"guess": "WHALE"}'],
    ["with a bracket in a value", 'So: {"guess": "WHALE", "why": "not {SEA\\"}"}'],
    ["with another object that is not an answer", '{"thought": {"a": 1}} {"guess": "WHALE"}'],
    ["with more keys", '{"guess": "WHALE", "why": "it swims", "constructor": {"prototype": {}}}'],
  ])("is read as a guess: %s", (_name, answer) => {
    expect(stepOf(pending("guess"), text(answer), "llm")).toEqual({ kind: "act", action: GUESS });
  });

  it.each<[string, Pending["stage"], string, object]>([
    ["a number in quotes", "clue", '{"clue": "OCEAN", "number": "2"}', { type: "clue", word: "OCEAN", number: 2 }],
    ["Unlimited", "clue", '{"clue": "SEA", "number": "Unlimited"}', { type: "clue", word: "SEA", number: "unlimited" }],
    ["false in quotes", "continue", '{"continue": "false"}', { type: "pass" }],
    ["a clue", "clue", '{"clue": "OCEAN", "number": 2}', { type: "clue", word: "OCEAN", number: 2 }],
    ["no limit", "clue", '{"clue": "SEA", "number": "unlimited"}', { type: "clue", word: "SEA", number: "unlimited" }],
    ["stopping", "continue", '{"continue": false}', { type: "pass" }],
  ])("is accepted: %s", (_name, stage, answer, action) => {
    expect(stepOf(pending(stage), text(answer), "llm")).toEqual({ kind: "act", action });
  });

  const NUMBER = '"number" must be a number from 0 to 9, or "unlimited"';
  it.each<[string, Pending["stage"], string, string]>([
    [
      "two blocks",
      "guess",
      '```\n{"guess": "A"}\n```\n```\n{"guess": "B"}\n```',
      "your answer contains 2 JSON objects instead of one",
    ],
    ["two objects", "guess", '{"guess": "A"}{"guess": "B"}', "your answer contains 2 JSON objects instead of one"],
    ["three quotes alone", "guess", "```", "your answer contains no valid JSON object"],
    ["an empty block", "guess", "``````", "your answer contains no valid JSON object"],
    ["an array", "guess", '[{"guess": "WHALE"}]', "your answer is not a JSON object"],
    ["a nested answer", "guess", '{"answer": {"guess": "WHALE"}}', 'your JSON object has no "guess"'],
    ["a word that is not a string", "guess", '{"guess": ["WHALE"]}', '"guess" must be one word, not ["WHALE"]'],
    ["a prototype", "guess", '{"__proto__": {"guess": "WHALE"}}', 'your JSON object has no "guess"'],
    ["text", "guess", "WHALE", "your answer contains no valid JSON object"],
    ["broken JSON", "guess", "{guess: 'WHALE'}", "your answer contains no valid JSON object"],
    ["null", "guess", "null", "your answer is not a JSON object"],
    ["nothing", "guess", "", "your answer contains no valid JSON object"],
    ["the clue of another question", "guess", '{"clue": "OCEAN", "number": 2}', 'your JSON object has no "guess"'],
    ["a number too large", "clue", '{"clue": "OCEAN", "number": 10}', `${NUMBER}, not 10`],
    ["a number below", "clue", '{"clue": "OCEAN", "number": -1}', `${NUMBER}, not -1`],
    ["half a number", "clue", '{"clue": "OCEAN", "number": 1.5}', `${NUMBER}, not 1.5`],
    ["a number in words", "clue", '{"clue": "OCEAN", "number": "two"}', `${NUMBER}, not "two"`],
    ["no number", "clue", '{"clue": "OCEAN"}', 'your JSON object has no "number"'],
    ["yes in words", "continue", '{"continue": "yes"}', '"continue" must be true or false, not "yes"'],
    ["a long text", "guess", "W".repeat(10_001), "your answer is longer than 10000 characters"],
  ])("is rejected with the reason: %s", (_name, stage, answer, fault) => {
    const form = { clue: '{"clue": "WORD", "number": 2}', guess: '{"guess": "WORD"}' };
    const format = form[stage as keyof typeof form] ?? '{"continue": true} or {"continue": false}';
    const problem = `${fault}; answer with ${format}`;
    expect(stepOf(pending(stage), text(answer), "llm")).toEqual({
      kind: "ask",
      pending: { tick: 4, stage, attempt: 2, problem },
      rejected: { problem, reason: "not_as_asked" },
    });
  });

  test("does not change the prototype of an object with the key __proto__", () => {
    stepOf(pending("guess"), text('{"__proto__": {"polluted": true}, "guess": "WHALE"}'), "llm");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    ["spaces in an open block", `\`\`\`${" ".repeat(100_000)}x`],
    ["spaces", " ".repeat(1_000_000)],
    ["brackets", "[".repeat(100_000)],
    ["a long word", JSON.stringify({ guess: "W".repeat(1_000_000) })],
  ])("is rejected if it is very long: %s", (_name, answer) => {
    expect(stepOf(pending("guess"), text(answer), "llm")).toMatchObject({ kind: "ask", pending: { attempt: 2 } });
    expect(wordsIn(text(answer))).toHaveProperty("problem");
  });
});

describe("the form of a person", () => {
  it.each<[Pending["stage"], Record<string, unknown>, object]>([
    ["clue", { word: "OCEAN", number: "2" }, { type: "clue", word: "OCEAN", number: 2 }],
    ["clue", { word: "OCEAN", number: 2 }, { type: "clue", word: "OCEAN", number: 2 }],
    ["clue", { word: "OCEAN", number: "unlimited" }, { type: "clue", word: "OCEAN", number: "unlimited" }],
    ["guess", { word: "WHALE" }, GUESS],
    ["continue", { go_on: false }, { type: "pass" }],
    ["continue", { go_on: "False" }, { type: "pass" }],
  ])("is accepted: %s %j", (stage, content, action) => {
    expect(stepOf(pending(stage), form(content), "user")).toEqual({ kind: "act", action });
  });

  it.each<[Pending["stage"], Record<string, unknown>]>([
    ["clue", {}],
    ["clue", { word: "OCEAN", number: "10" }],
    ["clue", { word: 7, number: "1" }],
    ["guess", { word: null }],
    ["continue", { go_on: "yes" }],
  ])("is rejected: %s %j", (stage, content) => {
    const problem = "the form was not completed as requested";
    expect(stepOf(pending(stage), form(content), "user")).toMatchObject({
      kind: "ask",
      pending: { attempt: 2, problem },
    });
  });

  it.each(["decline", "cancel"] as const)(
    "with %s leads to the question whether to continue, and then back to the same question",
    (action) => {
      const asked = pending("guess", { attempt: 2 });
      const leave = stepOf(asked, left(action), "user");
      expect(leave).toEqual({ kind: "ask", pending: { ...asked, stage: "leave", left: "guess" } });
      if (leave.kind !== "ask") return;
      expect(stepOf(leave.pending, form({ go_on: false }), "user")).toEqual({ kind: "end" });
      for (const back of [form({ go_on: true }), left("cancel"), left("decline"), form({ go_on: "no" }), FAILED]) {
        expect(stepOf(leave.pending, back, "user")).toMatchObject({
          kind: "ask",
          pending: { tick: 4, stage: "guess", attempt: 3, problem: "the form was closed without an answer" },
        });
      }
    },
  );
});

test("declining to guess again passes the turn, and cancelling leads to the question whether to continue", () => {
  const asked = pending("continue", { attempt: 2 });
  expect(stepOf(asked, left("decline"), "user")).toEqual({ kind: "act", action: { type: "pass" } });
  expect(stepOf(asked, left("cancel"), "user")).toMatchObject({ pending: { stage: "leave", left: "continue" } });
});

test("a form is not accepted for a prompt, nor a text for a form", () => {
  expect(stepOf(pending("guess"), form({ word: "WHALE" }), "llm")).toMatchObject({
    kind: "ask",
    pending: { attempt: 2 },
  });
  expect(stepOf(pending("guess"), left("cancel"), "llm")).toMatchObject({ kind: "ask", pending: { stage: "guess" } });
  expect(stepOf(pending("guess"), text('{"guess": "WHALE"}'), "user")).toMatchObject({ kind: "ask" });
});

test("after the decision to guess again, the guess is requested as the first attempt", () => {
  const next = { kind: "ask", pending: pending("guess") };
  expect(stepOf(pending("continue", { attempt: 3, problem: "?" }), text('{"continue": true}'), "llm")).toEqual(next);
  expect(stepOf(pending("continue"), form({ go_on: true }), "user")).toEqual(next);
});

test("after three attempts the turn is skipped with a reason that contains no text of the player", () => {
  const answers = ["x", "y", "I say: GUESS APPLE AND PEAR"];
  let now = pending("clue");
  for (const answer of answers.slice(0, -1)) {
    const step = stepOf(now, text(answer), "llm");
    if (step.kind !== "ask") throw new Error("given up too early");
    now = step.pending;
  }
  expect(now.attempt).toBe(MAX_ATTEMPTS);
  expect(stepOf(now, text(answers[2] ?? ""), "llm")).toMatchObject({
    kind: "act",
    action: { type: "skip", reason: "not_as_asked" },
  });
  expect(stepOf(now, FAILED, "llm")).toMatchObject({ kind: "act", action: { type: "skip", reason: "no_answer" } });
  const illegal = { problem: "the clue APPLEPEAR contains APPLE", reason: "illegal_clue" } as const;
  expect(again(now, "clue", illegal)).toMatchObject({ kind: "act", action: { type: "skip", reason: "illegal_clue" } });
  expect(stepOf({ ...now, stage: "leave", left: "clue" }, left("cancel"), "user")).toMatchObject({
    kind: "act",
    action: { type: "skip", reason: "form_left" },
  });
});

test("the first question of each phase", () => {
  const at = (state: unknown, tick: number) => firstPending(state as CodenamesState, tick);
  const initial = codenames.initialState({ options: codenames.options.parse({}), seed: "flow" });
  expect(at(initial, 0)).toEqual({ tick: 0, stage: "clue", attempt: 1, problem: null });
  const clue = codenames.applyAction(initial, `${initial.turn}_spymaster`, { type: "clue", word: "ZZZZ", number: 2 });
  if (!clue.ok) throw new Error(clue.error.message);
  expect(at(clue.value, 1).stage).toBe("guess");
  const own = initial.cards.find(({ identity }) => identity === initial.turn)?.word ?? "";
  const guess = codenames.applyAction(clue.value, `${initial.turn}_team`, { type: "guess", word: own });
  expect(guess.ok && at(guess.value, 2).stage).toBe("continue");
});

describe("words for a board", () => {
  const words = Array.from({ length: 26 }, (_, place) => String.fromCharCode(65 + place).repeat(3));
  const typed = (words: unknown): CallerAnswer => form({ words });
  it.each<[string, CallerAnswer]>([
    ["commas", typed(words.join(", "))],
    ["lines and semicolons", typed(words.join(";\n"))],
    ["a list", typed(words)],
    ["lower case", typed(words.join(",").toLowerCase())],
    ["one twice", typed([words[0], ...words].join(","))],
    ["JSON", text(JSON.stringify(words))],
    ["words around JSON", text(`Here [as asked] you are: ${JSON.stringify(words)}. Enjoy!`)],
    ["a block of JSON", text(`\`\`\`json\n${JSON.stringify(words)}\n\`\`\``)],
  ])("are accepted: %s", (_name, answer) => {
    expect(wordsIn(answer)).toEqual({ words: words.slice(0, 25) });
  });

  it.each<[string, CallerAnswer, RegExp]>([
    ["fewer", typed(words.slice(0, 24).join(",")), /25 different words are needed, these are 24/],
    ["one in two spellings", typed(["Café", "CAFE", ...words.slice(0, 23)].join(",")), /these are 24/],
    ["none", typed(""), /these are 0/],
    ["digits", typed([...words.slice(0, 24), "R2D2"].join(",")), /has letters, at most 30: R2D2/],
    ["one too long", typed([...words.slice(0, 24), "X".repeat(5_000)].join(",")), /at most 30: X{40}$/],
    ["an object", text('{"words": []}'), /your answer is not a JSON list/],
    ["values that are not words", text(`[${'{"toString": 1},'.repeat(24)}{}]`), /give a list of 25 words/],
    ["lists in lists", text(`${"[".repeat(4_000)}${"]".repeat(4_000)}`), /give a list of 25 words/],
    ["numbers and null", text(JSON.stringify([1, null, ...words.slice(0, 23)])), /give a list of 25 words/],
    ["prose", text(`Here you are: ${words.join(", ")}`), /your answer contains no valid JSON list/],
    ["no field", form({}), /give a list of 25 words/],
    ["no answer", FAILED, /no answer: the time limit was exceeded/],
  ])("are rejected: %s", (_name, answer, problem) => {
    expect(wordsIn(answer)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
