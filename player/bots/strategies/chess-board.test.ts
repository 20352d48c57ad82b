import { Chess } from "chess.js";
import { expect, test } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { type Board, boardOf, isInCheck, keyOf, listMoves, make, uciOf } from "./chess-board.ts";

/** The number of lines of play of this length, "perft". */
function countLines(board: Board, depth: number): number {
  if (depth === 0) return 1;
  const side = board.turn;
  let lines = 0;
  for (const move of listMoves(board, false)) {
    const takeBack = make(board, move);
    if (!isInCheck(board, side)) lines += countLines(board, depth - 1);
    takeBack();
  }
  return lines;
}

// https://www.chessprogramming.org/Perft_Results
test.each([
  ["the initial position", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 3, 8_902],
  ["position 2, Kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97_862],
  ["position 3", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43_238],
  ["position 4", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9_467],
  ["position 5", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3, 62_379],
])("%s has the published number of lines of play", (_, fen, depth, lines) => {
  expect(countLines(boardOf(fen), depth)).toBe(lines);
});

test("in random games it has the same moves and positions as chess.js", () => {
  const random = createRandom("board");
  for (let game = 0; game < 5; game++) {
    const chess = new Chess();
    const board = boardOf(chess.fen());
    for (let ply = 0; ply < 80 && !chess.isGameOver(); ply++) {
      const before = keyOf(board);
      const legal = listMoves(board, false).filter((move) => {
        const side = board.turn;
        const takeBack = make(board, move);
        const isLegal = !isInCheck(board, side);
        takeBack();
        return isLegal;
      });
      expect(keyOf(board)).toBe(before);
      const known = chess.moves({ verbose: true }).map(({ from, to, promotion = "" }) => from + to + promotion);
      expect(legal.map(uciOf).sort()).toEqual(known.sort());
      const move = random.pick(legal);
      make(board, move);
      chess.move(uciOf(move));
      expect(board.squares).toEqual(boardOf(chess.fen()).squares);
      expect([board.turn, board.castling, ...board.kings]).toEqual(
        Object.values(
          (({ turn, castling, kings }) => ({ turn, castling, a: kings[0], b: kings[1] }))(boardOf(chess.fen())),
        ),
      );
    }
  }
});
