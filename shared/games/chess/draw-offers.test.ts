import { describe, expect, it } from "vitest";
import { type ChessState, chess } from "#shared/games/chess.ts";
import { applyLegal } from "#shared/games/contract/obligation.ts";

const start = (options: object = { draw_offers: true }): ChessState =>
  chess.initialState({ options: chess.options.parse(options), seed: "" }) as ChessState;

const played = (actions: readonly string[], from = start()): ChessState =>
  actions.reduce<ChessState>((state, action) => applyLegal(chess, state, state.turn, action) as ChessState, from);

const messageOf = (state: ChessState, action: string): string => {
  const applied = chess.applyAction(state, state.turn, action);
  return applied.ok ? "" : applied.error.message;
};

describe("chess.v1, the option draw_offers", () => {
  it("a move carries an offer, and the opponent accepts it instead of moving", () => {
    const offered = played(["e2e4 draw"]);
    expect(chess.viewState(offered, "spectator")).toMatchObject({ draw_offer: "white", turn: "black" });
    expect(chess.toText(offered, "black")).toContain("white offers a draw.");
    expect(chess.legalActions(offered, "black")).toContain("draw");
    expect(chess.legalActions(offered, "white")).toEqual([]);
    expect(played(["draw"], offered).outcome).toEqual({ winner: null, reason: "draw_agreed" });
  });

  it("a move of the opponent declines the offer and may carry another one", () => {
    expect(played(["e2e4 draw", "e7e5"])).toMatchObject({ draw_offer: null, outcome: null });
    expect(played(["e2e4 draw", "e7e5 draw"])).toMatchObject({ draw_offer: "black" });
    expect(messageOf(played(["e2e4 draw", "e7e5"]), "draw")).toBe("your opponent has not offered a draw");
    expect(messageOf(start(), "draw")).toBe("your opponent has not offered a draw");
  });

  it("a mate with an offer is a mate", () => {
    const mate = start({ draw_offers: true, fen: "7k/4Q3/6K1/8/8/8/8/8 w - - 0 1" });
    expect(played(["e7g7 draw"], mate).outcome).toEqual({ winner: "white", reason: "checkmate" });
  });

  it("without the option there are no offers, and views have no field for them", () => {
    const plain = start({});
    expect(messageOf(plain, "e2e4 draw")).toBe("this game has no draw offers: write e2e4");
    expect(messageOf(plain, "draw")).toBe("your opponent has not offered a draw");
    expect(chess.viewState(played(["e2e4"], plain), "black")).not.toHaveProperty("draw_offer");
    expect(() => start({ draw_offers: false })).toThrow();
  });
});
