import { describe, expect, it } from "vitest";
import { type ChessState, chess } from "#shared/games/chess.ts";
import { applyLegal } from "#shared/games/contract/obligation.ts";

const from = (options: object): ChessState =>
  chess.initialState({ options: chess.options.parse(options), seed: "" }) as ChessState;

const SHUFFLE = ["g1f3", "g8f6", "b1c3", "b8c6", "f3g1", "f6g8", "c3b1", "c6b8"];
const PAWNS = ["a2a3", "a7a6", "b2b3", "b7b6", "c2c3", "c7c6", "d2d3", "d7d6", "e2e3", "e7e6", "f2f3", "f7f6"];

/** Plays the moves with the scores of white and black by turns, and returns the ply of the end with the outcome. */
function end(options: object, scores: (ply: number) => string): [number, ChessState["outcome"]] {
  let state: unknown = from(options);
  for (const [ply, move] of PAWNS.entries()) {
    state = applyLegal(chess, state, (state as ChessState).turn, `${move} ${scores(ply)}`.trim());
    const { outcome } = state as ChessState;
    if (outcome) return [ply + 1, outcome];
  }
  return [PAWNS.length, null];
}
const isWhite = (ply: number): boolean => ply % 2 === 0;

describe("chess.v1, the option resign_score", () => {
  const resigned = { winner: "black", reason: "resignation" };

  it("the role that reports a lost score for resign_moves moves in a row loses", () => {
    expect(end({ resign_score: 600 }, (ply) => (isWhite(ply) ? "cp -600" : "cp 50"))).toEqual([5, resigned]);
    expect(end({ resign_score: 600, resign_moves: 1 }, (ply) => (isWhite(ply) ? "mate -7" : ""))).toEqual([
      1,
      resigned,
    ]);
  });

  it("a better score, a mate by the role itself or a move without a score begins the row again", () => {
    for (const better of ["cp -599", "mate 2", ""]) {
      const scores = (ply: number): string => (!isWhite(ply) ? "cp 0" : ply === 2 ? better : "cp -900");
      expect(end({ resign_score: 600 }, scores)).toEqual([9, resigned]);
    }
  });

  it("the score of the opponent alone decides nothing", () => {
    expect(end({ resign_score: 600 }, (ply) => (isWhite(ply) ? "cp 900" : "cp 0"))).toEqual([12, null]);
  });
});

describe("chess.v1, the option draw_score", () => {
  const drawn = { winner: null, reason: "draw_adjudicated" };
  const rule = { draw_score: 10, draw_moves: 2, draw_from_move: 1 };

  it("both roles report scores near 0 for draw_moves moves each", () => {
    expect(end(rule, (ply) => (ply % 3 === 0 ? "cp -10" : "cp 10"))).toEqual([4, drawn]);
    expect(end(rule, (ply) => (ply === 1 ? "cp 11" : "cp 0"))).toEqual([6, drawn]);
    expect(end(rule, (ply) => (ply === 1 ? "mate 1" : "cp 0"))).toEqual([6, drawn]);
  });

  it("one role alone cannot reach the draw", () => {
    expect(end(rule, (ply) => (isWhite(ply) ? "cp 0" : ""))).toEqual([12, null]);
    expect(end(rule, (ply) => (isWhite(ply) ? "cp 0" : "cp 300"))).toEqual([12, null]);
  });

  it("there is no draw before the move draw_from_move, as the FEN counts", () => {
    expect(end({ ...rule, draw_from_move: 5 }, () => "cp 0")).toEqual([9, drawn]);
    expect(end({ draw_score: 10 }, () => "cp 0")).toEqual([12, null]);
  });

  it("a rule of chess takes precedence", () => {
    let state: unknown = from({ draw_score: 0, draw_moves: 4, draw_from_move: 1 });
    for (const move of SHUFFLE) state = applyLegal(chess, state, (state as ChessState).turn, `${move} cp 0`);
    expect((state as ChessState).outcome).toEqual({ winner: null, reason: "draw_adjudicated" });
    let repeated: unknown = from({ draw_score: 0, draw_moves: 8, draw_from_move: 1 });
    for (const move of [...SHUFFLE, ...SHUFFLE])
      repeated = applyLegal(chess, repeated, (repeated as ChessState).turn, `${move} cp 0`);
    expect((repeated as ChessState).outcome?.reason).toBe("threefold_repetition");
  });
});

describe("chess.v1, actions with a score", () => {
  it.each(["e2e4 cp", "e2e4 cp 1.5", "e2e4  cp 1", "e2e4 cp 1234567", "e2e4 pawns 1", "e2e5 cp 1", "cp 10"])(
    "rejects %j",
    (action) => expect(chess.applyAction(from({ draw_score: 10 }), "white", action).ok).toBe(false),
  );

  it("rejects a score in a game without adjudication, so that such games have one form of each action", () => {
    expect(chess.applyAction(from({}), "white", "e2e4 cp 10")).toEqual({
      ok: false,
      error: { message: "this game has no adjudication, so a move has no score: write e2e4" },
    });
  });

  it("the counts of the rules stay in the state: a view does not show the scores", () => {
    const after = applyLegal(chess, from({ draw_score: 10 }), "white", "e2e4 cp 10") as ChessState;
    const view = { fen: after.fen, turn: "black", outcome: null, moves: ["e2e4"] };
    expect(chess.viewState(after, "spectator")).toEqual(view);
  });

  it("an option that has no effect is rejected", () => {
    expect(chess.options.safeParse({ resign_moves: 3 }).error?.issues[0]?.message).toBe(
      "has no effect without resign_score",
    );
    expect(chess.options.safeParse({ resign_score: 600, draw_from_move: 40 }).success).toBe(false);
  });
});

describe("chess.v1, the option moves", () => {
  it("the players begin after the moves, and the positions before count as repetitions", () => {
    const start = from({ moves: "g1f3 g8f6 f3g1 f6g8" });
    expect(start).toMatchObject({ turn: "white", outcome: null });
    expect(start.fen).toBe("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 3");
    let state: unknown = start;
    for (const move of SHUFFLE.slice(0, 3)) state = applyLegal(chess, state, (state as ChessState).turn, move);
    const repeat = ["f3g1", "f6g8"];
    state = start;
    for (const move of ["g1f3", "g8f6", ...repeat]) state = applyLegal(chess, state, (state as ChessState).turn, move);
    expect((state as ChessState).outcome?.reason).toBe("threefold_repetition");
  });

  it("follows the option fen, and max_plies counts the plies of the players", () => {
    const start = from({ fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 10", moves: "e2e4", max_plies: 2 });
    expect(start).toMatchObject({ fen: "4k3/8/8/8/4P3/8/8/4K3 b - - 0 10", turn: "black", ends_at: 21 });
    expect(start).not.toHaveProperty("adjudication");
  });

  it("an invalid position is the only fault that is named", () => {
    const issues = chess.options.safeParse({ fen: "e4", moves: "e2e4" }).error?.issues;
    expect(issues).toMatchObject([{ path: ["fen"] }]);
  });

  it.each([
    ["e2e5", "ply 1: e2e5 is not a legal move"],
    ["e2e4 e2e4", "ply 2: e2e4 is not a legal move"],
    ["f2f3 e7e5 g2g4 d8h4", "the game is over after these moves"],
    ["e2e4 cp 10", "must be 1 to 300 moves in UCI, with one space between them: e2e4 e7e5"],
    ["e4", "must be 1 to 300 moves in UCI, with one space between them: e2e4 e7e5"],
  ])("rejects the moves %j", (moves, message) => {
    expect(chess.options.safeParse({ moves }).error?.issues).toMatchObject([{ path: ["moves"], message }]);
  });
});
