import { expect, it } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { explainIllegalMove } from "./moves.ts";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const PROMOTE = "3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1";
const KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1";
const CHECKED = "4k3/8/8/8/8/8/4q3/R3K3 w Q - 0 1";

it.each([
  [START, "Nd4", "no knight of white can go to d4"],
  [START, "nf3", "it is neither a move in UCI (e2e4, e7e8q) nor in SAN (Nf3, O-O, e8=Q)"],
  [START, "pass", "it is neither a move in UCI (e2e4, e7e8q) nor in SAN (Nf3, O-O, e8=Q)"],
  [START, "e2e5", "the pawn on e2 cannot go to e5"],
  [START, "e4e5", "there is no piece on e4"],
  [START, "e7e5", "the piece on e7 is not white's"],
  [START, "O-O", "white cannot castle on the king's side now"],
  [START, "e2e4q", "e2e4 is not a promotion: leave out q"],
  [START, "Nbf3", "no knight from there can go to f3, but g1f3 is legal"],
  [PROMOTE, "e7e8", "the pawn promotes on e8: add the piece (q, r, b or n), e.g. e7e8q"],
  [PROMOTE, "e8", "the pawn promotes on e8: add the piece (Q, R, B or N), e.g. e8=Q"],
  [PROMOTE, "exd8+", "the pawn promotes on d8: add the piece (Q, R, B or N), e.g. exd8=Q"],
  [KNIGHTS, "Nd2", "it matches several moves: write b1d2 or f3d2"],
  [CHECKED, "Ra8", "no rook of white can go to a8; white is in check"],
  [CHECKED, "O-O-O", "white cannot castle on the queen's side now; white is in check"],
])("explains in the position %s why %s is rejected: %s", (fen, text, why) => {
  expect(explainIllegalMove(fen, text)).toBe(why);
  expect(chess.explainIllegal?.(chess.initialState({ options: chess.options.parse({ fen }), seed: "" }), text)).toBe(
    why,
  );
});
