import { expect, it } from "vitest";
import { chess } from "./chess.ts";

const at = (fen: string) => chess.initialState({ options: chess.options.parse({ fen }), seed: "" });
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const CASTLE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
const PROMOTE = "3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1";
const KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1";
const RANKS = "4k3/8/8/8/8/8/8/KN1N4 w - - 0 1";
const BISHOPS = "4k3/8/8/8/1Q1B4/8/3B4/K7 w - - 0 1";
const EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2";
const PINNED = "4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1";

/** A position, a move, and spellings of the move. */
it.each<[string, string, readonly string[]]>([
  [
    START,
    "e2e4",
    ["e2e4", "E2E4", "e2-e4", "e4", "Pe4", "e4!", "Pe2-e4", "e2 e4", "E2 E4", "1. e4", "1.e4", "1. e2e4"],
  ],
  [START, "g1f3", ["Nf3", "Nf3+", "1. Nf3", "1... Nf3", "12…Nf3", "Ng1f3", "Ng1-f3", "Ngf3", "N1f3", "Nf3!?"]],
  [CASTLE, "e1g1", ["0-0", "O-O", "o-o", "O-O+", "e1g1", "Kg1"]],
  [CASTLE, "e1c1", ["0-0-0", "O-O-O", "o-o-o", "e1c1"]],
  [CASTLE, "a1a8", ["Rxa8", "Rxa8+", "Ra8", "a1xa8"]],
  [PROMOTE, "e7e8q", ["e8=Q", "e8Q", "e8=Q+", "e8q", "40. e8=Q", "e7 e8q", "e7e8q", "e7e8Q", "e7e8=Q", "E7E8Q"]],
  [PROMOTE, "e7e8n", ["e8=N", "e7e8n"]],
  [PROMOTE, "e7d8r", ["exd8=R", "ed8R", "e7xd8=R", "exd8=R#"]],
  [KNIGHTS, "b1d2", ["Nbd2", "Nb1d2", "N1d2"]],
  // There are two bishops on one file, and a queen on the square from which "b4c3" would start.
  [BISHOPS, "d4c3", ["B4c3", "Bd4c3"]],
  [BISHOPS, "d2c3", ["B2c3"]],
  [BISHOPS, "b4c3", ["b4c3", "B4C3", "Qc3"]],
  [EN_PASSANT, "e5d6", ["exd6", "exd6 e.p.", "exd6ep", "ed6", "e5d6"]],
  // The other knight is pinned, so the move is unambiguous without a file.
  [PINNED, "g1e2", ["Ne2", "Nge2"]],
])("readAction in the position %s reads %s", (fen, uci, spellings) => {
  const state = at(fen);
  for (const text of spellings) expect(chess.readAction?.(state, text), text).toBe(uci);
  expect(chess.applyAction(state, "white", uci).ok).toBe(true);
});

it.each<[string, readonly string[]]>([
  [START, ["", " ", "-", "--", "--!", "e5", "Nd4", "nf3", "O-O", "0-0-0", "0-0-0-0", "pass", "null", "{}", "Z0"]],
  [
    START,
    [
      "not e2e4",
      "e2e4 please",
      "e2e4\ne7e5",
      "e2e4, e4",
      "1. e4 e5",
      "1.",
      "1. ",
      "e2  e4",
      "e2 to e4",
      "12345. e4",
      "\u0000e4",
      "e2e4e5",
      "e9",
      "i4",
      "Ke1e1",
    ],
  ],
  [START, ["x".repeat(1_000), "e4".repeat(500), "N".repeat(1_000), "e4 ".repeat(20_000)]],
  // A promotion must name the piece.
  [PROMOTE, ["e8", "Pe7e8", "Pe7-e8", "exd8", "e8=K", "e8=P", "e8="]],
  // The spelling matches several moves.
  [KNIGHTS, ["Nd2"]],
  [RANKS, ["Nc3", "N1c3"]],
  [BISHOPS, ["Bc3"]],
  [PINNED, ["Nce2"]],
])("readAction in the position %s rejects %j", (fen, spellings) => {
  for (const text of spellings) expect(chess.readAction?.(at(fen), text), text).toBeNull();
});
