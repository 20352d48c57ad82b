import { describe, expect, it } from "vitest";
import { type ChessState, type ChessView, chess } from "#shared/games/chess.ts";
import { applyLegal } from "#shared/games/contract/obligation.ts";
import { positionCommand, startOf } from "./uci-bot.ts";

/** Returns the view of white after the moves. */
const viewAfter = (options: object, ...moves: readonly string[]): ChessView =>
  chess.viewState(
    moves.reduce<ChessState>(
      (state, move) => applyLegal(chess, state, state.turn, move) as ChessState,
      chess.initialState({ options: chess.options.parse(options), seed: "" }),
    ),
    "white",
  );

const FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

/** Returns the position of a match with these options after the moves. */
const commandAfter = (options: object, ...moves: readonly string[]): string =>
  positionCommand(startOf(options), viewAfter(options, ...moves));

describe("the position of a match for an engine", () => {
  it("begins with the options of the match", () => {
    expect(commandAfter({})).toBe("position startpos");
    expect(startOf(undefined)).toBe(startOf({}));
    expect(commandAfter({ fen: FEN })).toBe(`position fen ${FEN}`);
    expect(commandAfter({ fen: FEN, moves: "e2e4" })).toBe(`position fen ${FEN} moves e2e4`);
  });

  it("has all moves of the match, so that the engine sees repetitions", () => {
    const moves = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3"];
    expect(commandAfter({ moves: "e2e4 e7e5" }, ...moves)).toBe(`position startpos moves e2e4 e7e5 ${moves.join(" ")}`);
  });

  it("is that of the view if the moves or their beginning are not known", () => {
    const view = viewAfter({}, "e2e4", "e7e5");
    expect(positionCommand(null, view)).toBe(`position fen ${view.fen}`);
    const { moves: _, ...earlier } = view;
    expect(positionCommand(startOf({}), earlier)).toBe(`position fen ${view.fen}`);
  });
});
