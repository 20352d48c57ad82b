import { readFileSync } from "node:fs";
import { Chess } from "chess.js";
import { describe, expect, it } from "vitest";
import { createRandom } from "../lib/rng.ts";
import { type ChessState, chess } from "./chess.ts";
import { applyLegal } from "./contract/obligation.ts";

const from = (fen?: string): ChessState => chess.initialState({ options: chess.options.parse({ fen }), seed: "" });

function play(moves: string, start = from()): ChessState {
  let state: unknown = start;
  for (const move of moves.split(" ")) state = applyLegal(chess, state, (state as ChessState).turn, move);
  return state as ChessState;
}

const isLegal = (state: ChessState, action: string): boolean => chess.applyAction(state, state.turn, action).ok;

/**
 * Returns the number of games of `depth` plies: the standard test, which finds nearly every fault of a move generator.
 */
function perft(state: ChessState, depth: number): number {
  const moves = chess.legalActions(state, state.turn);
  if (depth === 1) return moves.length;
  return moves.reduce((count, move) => count + perft(play(move, state), depth - 1), 0);
}

describe("chess.v1, legal moves", () => {
  it.each([
    ["the start", undefined, [20, 400, 8902]],
    ["Kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", [48, 2039]],
    ["rook endgame, en passant pins", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [14, 191, 2812]],
    ["promotions", "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", [24, 496]],
  ] as const)("match the counts of chessprogramming.org, Perft Results: %s", (_name, fen, counts) => {
    expect(counts.map((_, depth) => perft(from(fen), depth + 1))).toEqual(counts);
  });

  it("are in UCI, sorted, and the same as the verbose list of chess.js", () => {
    const random = createRandom("chess lists");
    let state = from();
    for (let ply = 0; ply < 40 && !state.outcome; ply++) {
      const listed = chess.legalActions(state, state.turn);
      expect(listed).toEqual(
        new Chess(state.fen)
          .moves({ verbose: true })
          .map(({ lan }) => lan)
          .sort(),
      );
      state = play(random.pick(listed), state);
    }
  });
});

describe("chess.v1, compared with the public methods of chess.js", () => {
  it.each(["a", "b", "c", "d", "e", "f"])("plays every move to the same position and the same end: game %s", (seed) => {
    const random = createRandom(`beside chess.js/${seed}`);
    const board = new Chess();
    let state = from();
    while (!state.outcome) {
      const uci = random.pick(chess.legalActions(state, state.turn));
      state = play(uci, state);
      board.move({ from: uci.slice(0, 2), to: uci.slice(2, 4), promotion: uci.slice(4) });
      expect(state.fen).toBe(board.fen());
      expect(state.outcome !== null).toBe(board.isGameOver());
    }
    expect(state.outcome.reason === "checkmate").toBe(board.isCheckmate());
    expect(state.outcome.reason === "stalemate").toBe(board.isStalemate());
  });
});

describe("chess.v1", () => {
  it("has the initial state of the specification, which includes the first position", () => {
    const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const positions = ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"];
    expect(from()).toEqual({ fen, turn: "white", outcome: null, moves: [], positions });
    expect(chess.viewState(from(), "black")).toEqual({ fen, turn: "white", outcome: null, moves: [] });
  });

  it("shows the moves that lead from the option fen to the position, also those of the option moves", () => {
    const options = { fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", moves: "e2e4 e8d7", draw_score: 10, draw_offers: true };
    let state = chess.initialState({ options: chess.options.parse(options), seed: "" });
    expect(chess.viewState(state, "white").moves).toEqual(["e2e4", "e8d7"]);
    for (const action of ["e4e5 cp 9", "d7e7 cp 0 draw", "draw"])
      state = applyLegal(chess, state, state.turn, action) as ChessState;
    expect(state.outcome?.reason).toBe("draw_agreed");
    expect(chess.viewState(state, "spectator").moves).toEqual(["e2e4", "e8d7", "e4e5", "d7e7"]);
  });

  it("accepts actions only of the role to move, in strict alternation", () => {
    expect(chess.applyAction(from(), "black", "e7e5").ok).toBe(false);
    expect(chess.legalActions(from(), "black")).toEqual([]);
    expect(play("e2e4").turn).toBe("black");
    expect(chess.applyAction(play("e2e4"), "white", "d2d4").ok).toBe(false);
  });
});

describe("chess.v1, actions in strict UCI", () => {
  const promoting = from("8/P6k/8/8/8/8/8/K7 w - - 0 1");
  const castling = from("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");

  it.each(["a7a8q", "a7a8r", "a7a8b", "a7a8n"])("accepts the promotion %s", (action) => {
    const piece = action.slice(4).toUpperCase();
    expect(play(action, promoting).fen.startsWith(`${piece}7/`)).toBe(true);
  });

  it.each([
    "a7a8",
    "a7a8k",
    "a7a8p",
    "a7a8Q",
    "A7A8q",
    "a7-a8q",
    "a7a8=q",
    "a8=Q",
    "a1b1q",
    "a1a1",
    "h7h6",
    "",
    "--",
    "0000",
  ])("rejects %j in a position with a promotion", (action) => expect(isLegal(promoting, action)).toBe(false));

  it.each([
    "e2e4q",
    "E2E4",
    "e2e5",
    "e1e1",
    "e4",
    "Nf3",
    "e2e4 ",
    " e2e4",
    "e2e4\n",
    "e7e5",
    "e2d3",
    "O-O",
    "--",
    "null",
    "i2i4",
    "e0e4",
  ])("rejects %j in the initial position", (action) => expect(isLegal(from(), action)).toBe(false));

  it("castling is written as the king's move: e1g1, e1c1", () => {
    expect(play("e1g1", castling).fen).toMatch(/^r3k2r\/8\/8\/8\/8\/8\/8\/R4RK1 b kq /);
    expect(play("e1c1", castling).fen).toMatch(/^r3k2r\/8\/8\/8\/8\/8\/8\/2KR3R b kq /);
    for (const action of ["e1h1", "e1a1", "O-O", "e1g1q"]) expect(isLegal(castling, action)).toBe(false);
  });

  it("en passant captures a pawn only directly after its double step", () => {
    expect(play("e2e4 a7a6 e4e5 d7d5 e5d6").fen).toMatch(/^rnbqkbnr\/1pp1pppp\/p2P4\/8\//);
    expect(isLegal(play("e2e4 a7a6 e4e5 d7d5 a2a3 a6a5"), "e5d6")).toBe(false);
  });
});

describe("chess.v1, endings", () => {
  const file = new URL("./playthroughs/chess.v1.json", import.meta.url);
  const recorded: readonly { name: string; steps: readonly (readonly [string, string])[] }[] = JSON.parse(
    readFileSync(file, "utf8"),
  );
  const recordedGame = (reason: string): string[] =>
    recorded.find(({ name }) => name.startsWith(`${reason}:`))?.steps.map(([, move]) => move) ?? [];

  it.each([
    ["checkmate", "white", { white: 1, black: 0 }],
    ["stalemate", null, { white: 0.5, black: 0.5 }],
    ["insufficient_material", null, { white: 0.5, black: 0.5 }],
    ["threefold_repetition", null, { white: 0.5, black: 0.5 }],
    ["fifty_moves", null, { white: 0.5, black: 0.5 }],
  ] as const)("a recorded game ends by %s, not one ply earlier", (reason, winner, scores) => {
    const moves = recordedGame(reason);
    const last = play(moves.join(" "));
    expect(last.outcome).toEqual({ winner, reason });
    expect(chess.outcome(last)).toEqual({ scores, reason });
    expect(play(moves.slice(0, -1).join(" ")).outcome).toBeNull();
    for (const role of chess.roles) expect(chess.legalActions(last, role)).toEqual([]);
  });

  it("black can win by checkmate", () => {
    expect(play("f2f3 e7e5 g2g4 d8h4").outcome).toEqual({ winner: "black", reason: "checkmate" });
  });

  it("FIDE 9.2: the repetitions of a position need not be consecutive", () => {
    expect(play("g1f3 g8f6 f3g1 f6g8 b1c3 b8c6 c3b1 c6b8").outcome?.reason).toBe("threefold_repetition");
  });

  it("FIDE 9.2.3: positions with different castling rights are different", () => {
    const shuffle = "h1h2 h8h7 h2h1 h7h8";
    const start = from("r3k2r/p7/8/8/8/8/P7/R3K2R w KQkq - 0 1");
    // The start position has occurred three times, but with all castling rights only once.
    expect(play(`${shuffle} ${shuffle}`, start).outcome).toBeNull();
    expect(play(`${shuffle} ${shuffle} h1h2 h8h7`, start).outcome?.reason).toBe("threefold_repetition");
  });

  it("FIDE 5.1.1: checkmate takes precedence on the hundredth ply", () => {
    expect(play("h1h8", from("k7/8/1K6/8/8/8/8/7R w - - 99 80")).outcome?.reason).toBe("checkmate");
    expect(play("h1h7", from("k7/8/1K6/8/8/8/8/7R w - - 99 80")).outcome?.reason).toBe("fifty_moves");
  });

  it("FIDE 5.2.2: a promotion to a piece that cannot mate ends the game", () => {
    const start = from("8/P6k/8/8/8/8/8/K7 w - - 0 1");
    expect(play("a7a8n", start).outcome?.reason).toBe("insufficient_material");
    expect(play("a7a8r", start).outcome).toBeNull();
  });
});

describe("chess.v1, start positions", () => {
  it.each([
    ["not FEN", "e4 e5"],
    ["over by mate", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"],
    ["over by stalemate", "k7/8/1Q6/8/8/8/8/K7 b - - 0 1"],
    ["over by material", "k7/8/8/8/8/8/8/K6N w - - 0 1"],
    ["over by fifty moves", "k7/8/8/8/8/8/7P/K6R w - - 100 90"],
    ["castling without a rook", "4k3/8/8/8/8/8/8/4K2N w K - 0 1"],
    ["the king can be taken", "4k3/8/8/8/8/8/8/K3R3 w - - 0 1"],
    ["en passant without a pawn", "4k3/8/8/8/8/8/P7/K7 w - e6 0 1"],
    ["nine pawns", "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1"],
    ["seventeen pieces", "4k3/8/8/8/8/N7/NNNNNNNN/NNNNKNNN w - - 0 1"],
    ["a malformed clock", "4k3/8/8/8/8/8/P7/4K3 w - - 0x 1"],
    ["too long", `4k3/8/8/8/8/8/P7/4K3 w - - 0 ${"1".repeat(100)}`],
  ])("rejects a position: %s", (_name, fen) => expect(chess.options.safeParse({ fen }).success).toBe(false));

  it("an en passant square without a legal capture is removed, so that equal positions have equal keys", () => {
    const fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    expect(chess.options.parse({ fen })).toEqual({ fen: fen.replace("e3", "-") });
    expect(from(fen).positions).toEqual(play("e2e4").positions);
  });
});

describe("chess.v1, text", () => {
  it("shows the board with coordinates, then the side to move, and the FEN last", () => {
    const lines = chess.toText(play("e2e4"), "spectator").split("\n");
    expect(lines[0]).toBe("8  r n b q k b n r");
    expect(lines[4]).toBe("4  . . . . P . . .");
    expect(lines[8]).toBe("   a b c d e f g h");
    expect(lines[9]).toContain("black to move");
    expect(lines.at(-1)).toBe(play("e2e4").fen);
  });
});
