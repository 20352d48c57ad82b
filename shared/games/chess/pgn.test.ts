import { Chess } from "chess.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pgnGame } from "../testing/pgn-games.ts";
import { type PgnGame, pgnOf } from "./pgn.ts";

const GAME: PgnGame = {
  event: "class league",
  startedAt: "2026-11-23T16:00:00.000Z",
  round: "3",
  white: "Ann",
  black: "Bob",
  result: "0-1",
  termination: "normal",
  timeControl: null,
  moves: ["f2f3", "e7e5", "g2g4", "d8h4"].map((uci) => ({ uci })),
};
const tagsIn = (pgn: string): Readonly<Record<string, string>> => {
  const board = new Chess();
  board.loadPgn(pgn);
  return board.getHeaders();
};
const movesIn = (pgn: string): string => pgn.split("\n\n")[1] ?? "";

describe("pgnOf", () => {
  it("writes the seven tags, the moves in SAN and the result", () => {
    expect(pgnOf(GAME)).toBe(`[Event "class league"]
[Site "?"]
[Date "2026.11.23"]
[Round "3"]
[White "Ann"]
[Black "Bob"]
[Result "0-1"]
[Termination "normal"]
[TimeControl "-"]

1. f3 e5 2. g4 Qh4# 0-1

`);
  });

  it("writes the clocks after the moves, and the number before Black's move after a comment", () => {
    const moves = [
      { uci: "e2e4", clockMs: 300_000 },
      { uci: "e7e5", clockMs: 3_671_960 },
      { uci: "g1f3", clockMs: -20 },
    ];
    const pgn = pgnOf({ ...GAME, moves, timeControl: { initialMs: 300_000, incrementMs: 2_500 } });
    expect(pgn).toContain('[TimeControl "300+2.5"]\n');
    expect(movesIn(pgn).replaceAll("\n", " ")).toBe(
      "1. e4 {[%clk 0:05:00]} 1... e5 {[%clk 1:01:11.9]} 2. Nf3 {[%clk 0:00:00]} 0-1",
    );
  });

  it("writes a score before the clock, from the point of view of White", () => {
    const moves = [
      { uci: "e2e4", score: { unit: "mate", value: 3 }, clockMs: 9_000 },
      { uci: "e7e5", score: { unit: "cp", value: 25 } },
    ] as const;
    expect(movesIn(pgnOf({ ...GAME, moves }))).toBe("1. e4 {[%eval #3] [%clk 0:00:09]} 1... e5 {[%eval -0.25]} 0-1");
  });

  it("writes another start position as FEN, and Black's first move with its number", () => {
    const fen = "4k3/P7/8/8/8/8/8/4K2R b K - 3 40";
    const pgn = pgnOf({ ...GAME, fen, result: "*", moves: [{ uci: "e8f7" }, { uci: "e1g1" }, { uci: "f7e6" }] });
    expect(pgn).toContain(`[Result "*"]\n[FEN "${fen}"]\n[SetUp "1"]\n[Termination "normal"]\n`);
    expect(movesIn(pgn)).toBe("40... Kf7 41. O-O+ Ke6 *");
  });

  it("writes promotions and captures in the shortest unambiguous SAN", () => {
    const fen = "3r3k/4P3/8/8/8/5N2/8/1N2K3 w - - 0 1";
    const moves = [{ uci: "b1d2" }, { uci: "h8g7" }, { uci: "e7d8n" }];
    expect(movesIn(pgnOf({ ...GAME, fen, moves, result: "*" }))).toBe("1. Nbd2 Kg7 2. exd8=N *");
  });

  it("writes the reason into the comment of the last move", () => {
    const moves = [{ uci: "e2e4", clockMs: 9_500 }];
    expect(movesIn(pgnOf({ ...GAME, moves, reason: "no answer" }))).toBe("1. e4 {[%clk 0:00:09.5] no answer} 0-1");
  });

  it("writes a game without moves", () => {
    const pgn = pgnOf({ ...GAME, moves: [], termination: "abandoned", reason: "white did not answer" });
    expect(movesIn(pgn)).toBe("{white did not answer} 0-1");
  });

  it("throws if a move is not legal", () => {
    expect(() => pgnOf({ ...GAME, moves: [{ uci: "e2e5" }] })).toThrow("Invalid move");
  });

  it.each([
    ["an escaped backslash", "Ann\\", "Ann\\\\"],
    ["a comma", "Doe, Ann", "Doe, Ann"],
    ["an apostrophe for a quotation mark", 'Ann "A" B"]', "Ann 'A' B']"],
    ["letters outside of ASCII", "Žofie 李 😀", "Žofie 李 😀"],
    ["a space for a line break", 'Ann\n[Result "1-0"]', "Ann [Result '1-0']"],
    ["a question mark for an empty text", "\u202e", "?"],
  ])("writes %s in a name", (_, white, written) => {
    const pgn = pgnOf({ ...GAME, white });
    expect(pgn).toContain(`\n[White "${written}"]\n[Black "Bob"]\n[Result "0-1"]\n`);
    expect(tagsIn(pgn)).toMatchObject({ White: written, Result: "0-1" });
  });

  it.each([
    ["braces", "an answer {of 3} bytes}", "{an answer (of 3) bytes)} 0-1"],
    ["a clock", "[%clk 9:99:99]", "{[\u00a0%clk 9:99:99]} 0-1"],
    ["line breaks", "a\nb\u2028c", "{a b c} 0-1"],
    ["a long word", "x".repeat(200), `{${"x".repeat(70)}…} 0-1`],
  ])("writes a reason with %s as one comment", (_, reason, written) => {
    expect(movesIn(pgnOf({ ...GAME, moves: [], reason }))).toBe(written);
  });

  it("begins no line with a percent sign, which would hide the line", () => {
    const reason = Array.from({ length: 60 }, (_, index) => `${"y".repeat(index)} %z`).join(" ");
    const lines = movesIn(pgnOf({ ...GAME, reason })).split("\n");
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => line.startsWith("%"))).toEqual([]);
  });

  it("writes every game so that chess.js reads the same moves, tags and comments, in lines of at most 79 characters", () => {
    fc.assert(
      fc.property(pgnGame, (game) => {
        const pgn = pgnOf(game);
        const [tags = "", moves = ""] = pgn.split("\n\n");
        for (const line of moves.split("\n")) expect([...line].length).toBeLessThanOrEqual(79);
        const board = new Chess();
        board.loadPgn(pgn);
        expect(board.history({ verbose: true }).map(({ lan }) => lan)).toEqual(game.moves.map(({ uci }) => uci));
        expect(Object.keys(board.getHeaders())).toEqual(expect.arrayContaining(tags.match(/(?<=^\[)\w+/gm) ?? []));
        expect(board.getHeaders().Result).toBe(game.result);
        const clocks = board.getComments().filter(({ comment }) => /^(\[%eval \S+\] )?\[%clk /.test(comment));
        expect(clocks).toHaveLength(game.moves.filter(({ clockMs }) => clockMs !== undefined).length);
      }),
      { numRuns: 60 },
    );
  });
});
