import { expect, it } from "vitest";
import { materialInWords, materialOf } from "./boards/chess-squares.ts";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const words = (fen: string, side: "white" | "black", start = START) => materialInWords(materialOf(start, fen, side));

it("nothing is captured at the start", () => {
  expect([words(START, "white"), words(START, "black")]).toEqual(["", ""]);
});

it("lists the captured pieces of both sides, and the lead of the side that is ahead", () => {
  const fen = "r1b1kbnr/ppp2ppp/8/8/8/8/PPPPPP1P/RNBQKB1R w KQkq - 0 9";
  expect(words(fen, "white")).toBe("Captured: 2 pawns, a knight, a queen; ahead by 10");
  expect(words(fen, "black")).toBe("Captured: a pawn, a knight");
});

it("a promotion is a lead and no capture", () => {
  const fen = "1nbqkbnQ/pppppp1p/8/8/8/8/PPPPPPP1/RNBQKBNR b KQk - 0 9";
  expect(words(fen, "white")).toBe("Captured: a pawn, 2 rooks; ahead by 19");
  expect(words(fen, "black")).toBe("");
});

it("counts from the position in which the game began", () => {
  const start = "4k3/8/8/8/8/8/3r4/4K2Q w - - 0 1";
  expect(words("4k3/8/8/8/8/8/3K4/7Q b - - 0 1", "white", start)).toBe("Captured: a rook; ahead by 9");
  expect(words(start, "black", start)).toBe("");
});
