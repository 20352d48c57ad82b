import { Chess } from "chess.js";
import { describe, expect, it } from "vitest";
import {
  checkedKing,
  moveInWords,
  piecesOf,
  promotionsOf,
  squareInWords,
  squaresFor,
  squaresOf,
} from "./boards/chess-squares.ts";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

describe("the squares of a chess board", () => {
  it("are filled with the pieces of a FEN", () => {
    const pieces = piecesOf(START);
    expect(pieces.size).toBe(32);
    expect(pieces.get("a8")).toEqual({ color: "black", kind: "rook" });
    expect(pieces.get("e1")).toEqual({ color: "white", kind: "king" });
    expect(piecesOf("8/8/3n4/8/8/8/8/8 w - - 0 1")).toEqual(new Map([["d6", { color: "black", kind: "knight" }]]));
  });

  it("are shown with each side's pieces at the bottom", () => {
    expect(squaresFor("white")[7]).toEqual(["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1"]);
    expect(squaresFor("black")[7]).toEqual(["h8", "g8", "f8", "e8", "d8", "c8", "b8", "a8"]);
    expect(squaresFor("black")[0]?.[0]).toBe("h1");
  });

  it("and moves are described in plain text", () => {
    expect(squareInWords("g1", { color: "white", kind: "knight" })).toBe("white knight, g1");
    expect(squareInWords("e4", undefined)).toBe("e4, empty");
    expect(moveInWords("g1f3", piecesOf("8/8/8/8/8/5N2/8/8 b - - 1 1"))).toBe("knight g1 to f3");
    expect(moveInWords("g1f3 cp 35", piecesOf("8/8/8/8/8/5N2/8/8 b - - 1 1"))).toBe("knight g1 to f3");
    expect(moveInWords("a7a8n mate 2", piecesOf("N7/8/8/8/8/8/8/8 b - - 0 1"))).toMatch(/promoted to knight$/);
    expect(moveInWords("a7a8n", piecesOf("N7/8/8/8/8/8/8/8 b - - 0 1"))).toBe("pawn a7 to a8, promoted to knight");
    expect(squaresOf("e2e4")).toEqual(["e2", "e4"]);
    expect(squaresOf(4)).toEqual([]);
  });

  it("distinguish promotions from other moves", () => {
    const legal = ["a7a8b", "a7a8n", "a7a8q", "a7a8r", "h2h3"];
    expect(promotionsOf(legal, "a7", "a8")).toEqual(["q", "r", "b", "n"]);
    expect(promotionsOf(legal, "h2", "h3")).toEqual([""]);
    expect(promotionsOf(legal, "h2", "h4")).toEqual([]);
  });

  it("contain a king in check whenever chess.js reports a check", () => {
    let checks = 0;
    for (let game = 0; game < 10; game++) {
      const board = new Chess();
      for (let ply = 0; ply < 80; ply++) {
        const moves = board.moves();
        if (moves.length === 0) break;
        board.move(moves[(game * 31 + ply * ply * 17) % moves.length] ?? "");
        const turn = board.turn() === "w" ? "white" : "black";
        const king = board.findPiece({ type: "k", color: board.turn() })[0];
        expect(checkedKing(piecesOf(board.fen()), turn)).toBe(board.inCheck() ? king : null);
        checks += Number(board.inCheck());
      }
    }
    expect(checks).toBeGreaterThan(10);
  });
});
