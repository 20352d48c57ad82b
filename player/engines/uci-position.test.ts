import { describe, expect, it } from "vitest";
import { type ChessState, chess } from "#shared/games/chess.ts";
import { applyLegal } from "#shared/games/contract/play.ts";
import { MatchPosition } from "./uci-position.ts";

/** Returns the FEN after the moves. */
const fenAfter = (options: object, ...moves: readonly string[]): string =>
  moves.reduce<ChessState>(
    (state, move) => applyLegal(chess, state, state.turn, move) as ChessState,
    chess.initialState({ options: chess.options.parse(options), seed: "" }),
  ).fen;

const FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

describe("the position of a match for an engine", () => {
  it("begins with the options of the match", () => {
    expect(new MatchPosition({}).command()).toBe("position startpos");
    expect(new MatchPosition(undefined).command()).toBe("position startpos");
    expect(new MatchPosition({ fen: FEN, moves: "e2e4" }).command()).toBe(`position fen ${FEN} moves e2e4`);
  });

  it("continues with the own move and the reply, so that the engine sees repetitions", () => {
    const position = new MatchPosition({});
    position.continueTo(fenAfter({}), null);
    const moves = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6"];
    for (const count of [2, 4, 6])
      position.continueTo(fenAfter({}, ...moves.slice(0, count)), moves[count - 2] ?? null);
    expect(position.command()).toBe(`position startpos moves ${moves.join(" ")}`);
  });

  it("continues for black with the first move of white", () => {
    const position = new MatchPosition({ fen: FEN });
    position.continueTo(fenAfter({ fen: FEN }, "e2e3"), null);
    expect(position.command()).toBe(`position fen ${FEN} moves e2e3`);
  });

  it("finds castling, en passant and promotions", () => {
    const fen = "r3k3/P7/8/8/5p2/8/4P3/4K2R w K - 0 1";
    const position = new MatchPosition({ fen });
    const moves = ["e2e4", "f4e3", "e1g1", "a8b8", "a7b8n", "e3e2"];
    for (const count of [2, 4, 6])
      position.continueTo(fenAfter({ fen }, ...moves.slice(0, count)), moves[count - 2] ?? null);
    expect(position.command()).toBe(`position fen ${fen} moves ${moves.join(" ")}`);
  });

  it("begins again with a position that its moves do not reach, for example after a restart of the player", () => {
    const later = fenAfter({}, "e2e4", "e7e5", "g1f3", "b8c6");
    for (const own of [null, "e2e4", "e2e5"]) {
      const position = new MatchPosition({});
      position.continueTo(later, own);
      expect(position.command()).toBe(`position fen ${later}`);
      position.continueTo(later, own);
      expect(position.command()).toBe(`position fen ${later}`);
    }
  });
});
