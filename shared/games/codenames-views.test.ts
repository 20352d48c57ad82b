/** The views of Codenames: a team and a spectator do not see the identity of a covered card until the game is over. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../lib/rng.ts";
import { codenames } from "./codenames.ts";
import type { CodenamesAction, CodenamesState } from "./codenames-view.ts";
import { playAtRandom } from "./contract/obligation.ts";
import { canonicalJson } from "./contract/values.ts";
import { begin, play } from "./testing/codenames.ts";

const SPYMASTERS = ["red_spymaster", "blue_spymaster"];
const BLIND = ["red_team", "blue_team", "spectator", "", "__proto__", "spymaster", "red"];
const game = codenames as never;

const random = createRandom("codenames views");
const games = Array.from({ length: 16 }, (_, n) => playAtRandom(game, {}, `secret seed ${n}`, random));
/** Games with each kind of end. */
const ended = ["clue 9, own, own, own, own, own, own, own, own, own", "clue, assassin", "skip, ".repeat(60)].map(
  (script) => play(begin({}, "secret seed"), script),
);
const states = [...games.flatMap((game) => game.states as readonly CodenamesState[]), ...ended];

const open = states.filter(({ phase }) => phase !== "over");
const over = states.filter(({ phase }) => phase === "over");

/** Returns the same state with other identities of the covered cards. */
function reshuffled(state: CodenamesState): CodenamesState {
  const identities = random.shuffle(state.cards.filter(({ uncovered }) => !uncovered).map(({ identity }) => identity));
  const cards = state.cards.map((card) =>
    card.uncovered ? card : { ...card, identity: identities.pop() ?? card.identity },
  );
  return { ...state, cards };
}

/** Returns everything about a state that a viewer can see. */
const seenBy = (state: CodenamesState, viewer: string): string =>
  canonicalJson([
    codenames.viewState(state, viewer),
    codenames.toText(state, viewer),
    codenames.legalActions(state, viewer),
    codenames.outcome(state),
    codenames.toAct(state),
  ]);

const ATTEMPTS: readonly unknown[] = [
  ...["OCEAN", "WHALE", "", "TWO WORDS", "A"].flatMap((word) => [
    { type: "clue", word, number: 1 },
    { type: "clue", word, number: 12 },
    { type: "guess", word },
  ]),
  { type: "pass" },
  null,
];

describe("codenames.v1, hidden information", () => {
  it("the games of this test end in all ways", () => {
    expect(new Set(states.flatMap(({ result }) => result?.reason ?? []))).toEqual(
      new Set(["assassin", "agents_found", "turn_limit"]),
    );
  });

  it("both spymasters see every card", () => {
    for (const state of states) {
      for (const viewer of SPYMASTERS) expect(codenames.viewState(state, viewer)).toEqual(state);
    }
    const text = codenames.toText(begin({}, "a"), "red_spymaster");
    expect(text.match(/\((red|blue|neutral|assassin)\)/g)).toHaveLength(25);
  });

  it("every other viewer sees only the identities of guessed cards", () => {
    for (const state of open) {
      for (const viewer of BLIND) {
        const view = codenames.viewState(state, viewer);
        for (const [index, { word, identity, uncovered }] of state.cards.entries()) {
          expect(view.cards[index]).toEqual({ word, identity: uncovered ? identity : null, uncovered });
        }
        expect({ ...view, cards: [] }).toEqual({ ...state, cards: [] });
      }
    }
  });

  it("a text shows only the identities of guessed cards to viewers that are not spymasters", () => {
    for (const state of open) {
      const guessed = state.cards
        .filter(({ uncovered }) => uncovered)
        .map(({ word, identity }) => `[${word}: ${identity}]`);
      const marksOf = (viewer: string) => codenames.toText(state, viewer).match(/\[[^\]]+\]|\([a-z]+\)/g) ?? [];
      for (const viewer of BLIND) expect(marksOf(viewer)).toEqual(guessed);
    }
  });

  it("the information for these viewers does not depend on the covered cards", () => {
    for (const state of open) {
      const other = reshuffled(state);
      for (const viewer of BLIND) expect(seenBy(other, viewer)).toBe(seenBy(state, viewer));
    }
  });

  it("every viewer sees the key once the game is over", () => {
    expect(over.length).toBeGreaterThan(3);
    for (const state of over) {
      for (const viewer of BLIND) {
        expect(codenames.viewState(state, viewer)).toEqual(state);
        for (const { word, identity, uncovered } of state.cards) {
          expect(codenames.toText(state, viewer)).toContain(
            uncovered ? `[${word}: ${identity}]` : `${word} (${identity})`,
          );
        }
      }
    }
  });

  it("messages of rejected actions do not depend on the covered cards, for every role", () => {
    for (const state of states.filter((_, index) => index % 5 === 0)) {
      const other = reshuffled(state);
      const words = state.cards.map(({ word }) => word);
      const near = words.slice(0, 5).flatMap((word) => [
        { type: "clue", word: `${word}S`, number: 1 },
        { type: "clue", word, number: 1 },
        { type: "guess", word: `${word}S` },
      ]);
      for (const role of [...SPYMASTERS, ...BLIND]) {
        for (const action of [...ATTEMPTS, ...near] as CodenamesAction[]) {
          const messages = [state, other].map((candidate) => {
            const applied = codenames.applyAction(candidate, role, action);
            return applied.ok ? null : applied.error.message;
          });
          expect(messages[0]).toBe(messages[1]);
        }
      }
    }
  });

  it("a view that was sent as JSON lists the same legal actions for its role and reads the same texts", () => {
    for (const state of states.slice(0, 200)) {
      for (const role of codenames.roles) {
        const view = JSON.parse(JSON.stringify(codenames.viewState(state, role)));
        expect(codenames.legalActions(view, role)).toEqual(codenames.legalActions(state, role));
        for (const text of ["ocean 3", "pass", state.cards[7]?.word ?? ""]) {
          expect(codenames.readAction?.(view, text)).toEqual(codenames.readAction?.(state, text));
        }
      }
    }
  });

  it("a view has the fields of the public state only", () => {
    for (const viewer of [...SPYMASTERS, ...BLIND]) {
      const view = codenames.viewState(begin({}, "secret seed"), viewer);
      expect(Object.keys(view).sort()).toEqual([
        "cards",
        "guesses_left",
        "phase",
        "remaining",
        "result",
        "turn",
        "turns",
      ]);
    }
  });
});
