import { describe, expect, it } from "vitest";
import type { Game } from "./game.ts";
import { explainIllegal, legalMove, readMove } from "./move-text.ts";
import { games } from "./registry.ts";

/** The start of a game, and the role that is to act. */
function begin(id: keyof typeof games) {
  const game = games[id] as unknown as Game;
  const state = game.initialState({ options: game.options.parse({}), seed: "" });
  const [role = ""] = game.toAct(state);
  const view = game.viewState(state, role);
  return { game, view, role, legal: game.legalActions(view, role) };
}

describe("a move that a person or a language model has written", () => {
  it.each<[keyof typeof games, unknown, readonly string[]]>([
    ["chess.v1", "e2e4", ["1. e4", "e2 e4", "e2-e4", "**e4**", "`1. e4`", '"e4"', "'e2e4'", "_e4_.", "e4."]],
    ["chess.v1", "g1f3", ["Nf3+", "**Nf3**", "1. Nf3"]],
    ["rps.v1", "rock", ["rock", "ROCK.", "**rock**", "`rock`", '"Rock"', " *rock* "]],
    ["connect_four.v1", 4, ["4", "4.", "**4**", '"4"']],
    ["tic_tac_toe.v1", "b2", ["**B2**", "b2."]],
  ])("is an action of %s: %j", (id, action, texts) => {
    const { game, view, role, legal } = begin(id);
    for (const text of texts) {
      expect(readMove(game, view, role, text), text).toEqual(action);
      expect(legalMove(game, { view, role, legal }, text), text).toEqual({ ok: true, value: action });
    }
  });

  it.each(["rock paper", "**rock** paper", "*", "**", ".", `**rock**${" ".repeat(200)}paper`, "*".repeat(100_000)])(
    "is not an action: %.20s",
    (text) => {
      const { game, view, role, legal } = begin("rps.v1");
      expect(legalMove(game, { view, role, legal }, text).ok).toBe(false);
    },
  );

  it("is explained without its marks if it is not legal", () => {
    const { game, view } = begin("chess.v1");
    expect(explainIllegal(game, view, "**1. e5**")).toBe("no pawn of white can go to e5");
    expect(explainIllegal(game, view, "e2 e5")).toBe("the pawn on e2 cannot go to e5");
  });
});
