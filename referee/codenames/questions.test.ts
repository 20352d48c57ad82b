import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { codenames } from "#shared/games/codenames.ts";
import type { CodenamesState, CodenamesView } from "#shared/games/codenames-view.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { progressText } from "./director.ts";
import { history, type Pending, type PlayerType, questionFor } from "./questions.ts";

const IDENTITIES = /\((red|blue|neutral|assassin)\)/;
const LINK = "http://host/game/1#seat=secret";

const viewOf = (state: CodenamesState, role: string): CodenamesView => codenames.viewState(state, role);
const ask = (state: CodenamesState, role: string, type: PlayerType, more: Partial<Pending> = {}) =>
  questionFor(viewOf(state, role), role, type, { tick: 0, stage: "guess", attempt: 1, problem: null, ...more }, LINK);

/** A game after some random actions, which may include skipped turns. */
function randomGame(random: Random): CodenamesState {
  let state = codenames.initialState({ options: codenames.options.parse({}), seed: String(random.int(0, 1e9)) });
  for (let left = random.int(0, 20); left > 0; left--) {
    const [role = ""] = codenames.toAct(state);
    const legal = codenames.legalActions(state, role);
    const action = random.int(0, 7) === 0 ? ({ type: "skip", reason: "no_answer" } as const) : random.pick(legal);
    const next = codenames.applyAction(state, role, action);
    if (!next.ok) throw new Error(next.error.message);
    // The key of a game that is over is public.
    if (codenames.isTerminal(next.value)) return state;
    state = next.value;
  }
  return state;
}

/** The game with other identities of the covered cards, which only spymasters can distinguish. */
function withOtherKey(state: CodenamesState, random: Random): CodenamesState {
  const covered = state.cards.filter(({ uncovered }) => !uncovered);
  const identities = random.shuffle(covered.map(({ identity }) => identity));
  return {
    ...state,
    cards: state.cards.map((card) =>
      card.uncovered ? card : { ...card, identity: identities.pop() ?? card.identity },
    ),
  };
}

describe("questions to teams and progress messages do not depend on covered cards", () => {
  it.each(Array.from({ length: 40 }, (_, round) => round))("random game %i", (round) => {
    const random = createRandom(`questions ${round}`);
    const state = randomGame(random);
    const other = withOtherKey(state, random);
    for (const role of ["red_team", "blue_team"]) {
      for (const type of ["user", "llm"] as const) {
        for (const stage of ["guess", "continue", ...(type === "user" ? (["leave"] as const) : [])] as const) {
          const question = ask(state, role, type, { stage });
          expect(ask(other, role, type, { stage })).toEqual(question);
          expect(JSON.stringify(question)).not.toContain("seat=");
        }
      }
    }
    // Even with the whole state as input, the public texts contain only public information.
    expect(progressText(other)).toBe(progressText(state));
    expect(history(other)).toBe(history(state));
  });
});

const state = codenames.initialState({ options: codenames.options.parse({ starting_team: "red" }), seed: "questions" });

test("a spymaster receives the key: a model in the prompt, a person in the form with a link to the page", () => {
  const prompt = ask(state, "red_spymaster", "llm", { stage: "clue" });
  const form = ask(state, "red_spymaster", "user", { stage: "clue" });
  for (const { word, identity } of state.cards) {
    expect(prompt).toMatchObject({ kind: "prompt", text: expect.stringContaining(`${word} (${identity})`) });
    expect(form).toMatchObject({ kind: "form", message: expect.stringContaining(`${word} (${identity})`) });
  }
  expect(JSON.stringify(prompt)).not.toContain(LINK);
  expect(form).toMatchObject({ message: expect.stringContaining(LINK) });
});

test("a team receives the words and can guess only covered ones", () => {
  const first = state.cards[0]?.word ?? "";
  const uncovered = { ...state, cards: state.cards.with(0, { ...state.cards[0], uncovered: true } as never) };
  const question = ask(uncovered, "red_team", "user");
  if (question.kind !== "form") throw new Error("a person is given a form");
  const offered = (question.fields.word as { enum: readonly string[] }).enum;
  expect(offered).toHaveLength(24);
  expect(offered).not.toContain(first);
  expect(question.message).not.toMatch(IDENTITIES);
  expect(JSON.stringify(ask(state, "red_team", "llm"))).not.toMatch(IDENTITIES);
});

test("a repeated question contains the fault of the last answer", () => {
  const question = ask(state, "red_team", "llm", { attempt: 2, problem: "that word is not on the board" });
  expect(question).toMatchObject({
    text: expect.stringMatching(/^Your last answer was rejected \(now attempt 2\): that word/),
  });
});

test.each([
  ["blue_spymaster", "clue"],
  ["blue_team", "guess"],
] as const)("docs/codenames.md shows the prompt of %s", (role, stage) => {
  const document = readFileSync(new URL("../../docs/codenames.md", import.meta.url), "utf8");
  const question = questionFor(viewOf(state, role), role, "llm", { tick: 0, stage, attempt: 1, problem: null }, null);
  const paragraphs = question.kind === "prompt" ? question.text.split("\n\n") : [];
  const [head = "", task = "", format = ""] = [paragraphs[0], ...paragraphs.slice(-2)];
  expect(document).toContain(`\n${head}\n`);
  expect(document).toContain(`\n${task}\n\n${format}\n`);
});

test("the progress message describes each kind of event", () => {
  const act = (from: CodenamesState, action: object): CodenamesState => {
    const next = codenames.applyAction(from, codenames.toAct(from)[0] ?? "", action as never);
    if (!next.ok) throw new Error(next.error.message);
    return next.value;
  };
  const of = (identity: string) => state.cards.filter((card) => card.identity === identity).map(({ word }) => word);
  const [first = "", second = ""] = of("red");
  const [bystander = ""] = of("neutral");
  const [assassin = ""] = of("assassin");
  const clue = act(state, { type: "clue", word: "ZZZZ", number: 1 });
  const hit = act(clue, { type: "guess", word: first });
  expect(progressText(state)).toBe("red gives a clue");
  expect(progressText(clue)).toBe("red: ZZZZ 1; red guesses");
  expect(progressText(hit)).toBe(`red guessed ${first}: red; red guesses`);
  expect(progressText(act(hit, { type: "pass" }))).toBe("red stopped guessing; blue gives a clue");
  expect(progressText(act(hit, { type: "guess", word: second }))).toBe(`red guessed ${second}: red; blue gives a clue`);
  expect(progressText(act(clue, { type: "guess", word: bystander }))).toBe(
    `red guessed ${bystander}: neutral; blue gives a clue`,
  );
  expect(progressText(act(clue, { type: "guess", word: assassin }))).toBe(
    `red guessed ${assassin}: assassin; the game is over: team blue wins, because team red guessed the assassin`,
  );
  const skipped = act(state, { type: "skip", reason: "no_answer" });
  expect(progressText(skipped)).toBe("red gave up its turn (no answer); blue gives a clue");
  expect(history(skipped)).toContain("turn given up (no answer)");
});
