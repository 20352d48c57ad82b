/** The views of Kuhn poker: no viewer sees a card that was not shown in a showdown. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../lib/rng.ts";
import { applyLegal, playAtRandom, viewersOf } from "./contract/obligation.ts";
import { dealtCards, type KuhnAction, type KuhnState, type KuhnView, kuhnPoker } from "./kuhn-poker.ts";

const SEATS = ["player_1", "player_2"] as const;
const CARDS = ["jack", "queen", "king"] as const;
const DEALS = CARDS.flatMap((player_1) =>
  CARDS.filter((card) => card !== player_1).map((player_2) => ({ player_1, player_2 })),
);

describe("kuhn_poker.v1, hidden information", () => {
  const random = createRandom("kuhn poker");
  const games = Array.from({ length: 60 }, (_, n) =>
    playAtRandom(kuhnPoker as never, { hands: 1 + (n % 6) }, `secret seed ${n}`, random),
  );
  const states = games.flatMap((game) => game.states as readonly KuhnState[]);
  const open = states.filter((state) => state.turn !== null);

  /** Returns everything about a state that a viewer can see, including the messages of rejected actions. */
  const seenBy = (state: KuhnState, viewer: string): string =>
    JSON.stringify([
      kuhnPoker.viewState(state, viewer),
      kuhnPoker.toText(state, viewer),
      kuhnPoker.legalActions(state, viewer),
      kuhnPoker.rounds?.(state),
      kuhnPoker.outcome(state),
      ["check", "bet", "call", "fold"].map((action) => {
        const applied = kuhnPoker.applyAction(state, viewer, action as KuhnAction);
        return applied.ok || applied.error.message;
      }),
    ]);

  it("a role sees its own card; the spectator and unknown viewers see no card", () => {
    for (const state of open) {
      const { player_1, player_2 } = state.cards;
      expect(kuhnPoker.viewState(state, "player_1").cards).toEqual({ player_1, player_2: null });
      expect(kuhnPoker.viewState(state, "player_2").cards).toEqual({ player_1: null, player_2 });
      for (const viewer of ["spectator", "", "__proto__"]) {
        expect(kuhnPoker.viewState(state, viewer).cards).toEqual({ player_1: null, player_2: null });
      }
    }
  });

  it("everything else that a viewer sees is independent of the hidden cards and the seed", () => {
    for (const state of open) {
      for (const seat of SEATS) {
        const other = seat === "player_1" ? "player_2" : "player_1";
        for (const card of CARDS.filter((other) => other !== state.cards[seat])) {
          const swapped = { ...state, seed: "another", cards: { ...state.cards, [other]: card } };
          expect(seenBy(swapped, seat)).toBe(seenBy(state, seat));
        }
      }
      for (const cards of DEALS) {
        const swapped = { ...state, seed: "another", cards };
        expect(seenBy(swapped, "spectator")).toBe(seenBy(state, "spectator"));
      }
    }
  });

  const fold = (state: KuhnState): unknown => applyLegal(kuhnPoker, state, state.turn ?? "", "fold");

  it("the state after a fold does not depend on the cards, even at the end of the game", () => {
    const folding = open.filter((state) => kuhnPoker.legalActions(state, state.turn ?? "").includes("fold"));
    expect(folding.some(({ hand, hands }) => hand === hands)).toBe(true);
    for (const state of folding) {
      for (const cards of DEALS) expect(fold({ ...state, cards })).toEqual(fold(state));
    }
  });

  it("a closed hand shows its cards to every viewer after a showdown, and never after a fold", () => {
    for (const state of states) {
      for (const viewer of viewersOf(kuhnPoker as never)) {
        const view = kuhnPoker.viewState(state, viewer);
        expect(view.previous_hands).toEqual(state.previous_hands);
        const lines = kuhnPoker.toText(state, viewer).split("\n");
        for (const [index, { hand, actions, cards }] of view.previous_hands.entries()) {
          const isFolded = actions.at(-1) === "fold";
          expect(cards).toEqual(isFolded ? null : dealtCards(state.seed, hand));
          expect(kuhnPoker.rounds?.(state)[index]?.facts.cards).toEqual(cards);
          expect(/jack|queen|king/.test(lines[index] ?? "")).toBe(!isFolded);
        }
      }
    }
  });

  it("the spectator's view equals a role's view without the role's card, and at the end all views are equal", () => {
    for (const state of states) {
      const spectator = kuhnPoker.viewState(state, "spectator");
      for (const seat of SEATS) {
        const view: KuhnView = kuhnPoker.viewState(state, seat);
        expect({ ...view, cards: { ...view.cards, [seat]: null } }).toEqual(spectator);
        if (state.turn === null) expect(view).toEqual(spectator);
      }
    }
  });

  it("the seed is in the state but not in a view", () => {
    for (const state of states) {
      expect(state.seed).toMatch(/^secret seed/);
      for (const viewer of viewersOf(kuhnPoker as never)) expect(seenBy(state, viewer)).not.toContain("secret seed");
    }
  });
});
