import { describe, expect, it } from "vitest";
import { chess } from "../chess.ts";
import { bookKindOf, firstOpenings, type OpeningBook, readBook } from "./book.ts";

const IN_ORDER = { order: "sequential", seed: "" } as const;

function bookOf(text: string, kind: "epd" | "pgn"): OpeningBook {
  const book = readBook(text, kind);
  if (!book.ok) throw new Error(book.error);
  return book.value;
}
const openingsOf = (text: string, kind: "epd" | "pgn", count: number, plies?: number) =>
  firstOpenings(bookOf(text, kind), count, { ...IN_ORDER, plies });

const AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

describe("opening books in EPD", () => {
  const BOOK = `# a comment
${AFTER_E4} bm e5; id "King's pawn; open";

8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - hmvc 4; fmvn 12;
4k3/8/8/8/8/8/4P3/4K3 w - - 3 10\r
`;

  it("reads the position, the counters and the name, and ignores other operations, comments and empty lines", () => {
    expect(openingsOf(BOOK, "epd", 3)).toEqual({
      ok: true,
      value: [
        { name: "King's pawn; open", options: { fen: `${AFTER_E4} 0 1` } },
        { name: null, options: { fen: "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 4 12" } },
        { name: null, options: { fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 3 10" } },
      ],
    });
  });

  it.each([
    ["e4 e5", "line 4: not a position in EPD, which has four fields"],
    ["4k3/8/8/8/8/8/8/4K2N w K -", "line 4: Invalid FEN: castling right without king and rook at home"],
    ["k7/8/1Q6/8/8/8/8/K7 b - -", "line 4: Invalid FEN: the side to move has no legal move"],
    [`${AFTER_E4} id "${"x".repeat(1_000)}"`, "line 4: more than 1000 characters"],
  ])("names the line of a fault: %s", (line, error) => {
    expect(openingsOf(`${AFTER_E4}\n\n${AFTER_E4}\n${line}`, "epd", 3)).toEqual({ ok: false, error });
  });
});

describe("opening books in PGN", () => {
  const BOOK = `
[Event "A comment with a bracket"]
[Opening "Spanish"]

1. e4 {a comment
[%clk 0:01:00] over two lines} e5 (1... c5 2. Nf3 {Sicilian}) 2. Nf3 $1 Nc6 ; a remark {
3. Bb5 1/2-1/2

[Event "From a position"]\r
[SetUp "1"]\r
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 10"]\r
\r
10... Kd7 11. e4 *\r
`;

  it("reads the moves of each game, without comments and variations, and the position of the tag FEN", () => {
    const read = openingsOf(BOOK, "pgn", 2);
    expect(read).toEqual({
      ok: true,
      value: [
        { name: "Spanish", options: { moves: "e2e4 e7e5 g1f3 b8c6 f1b5" } },
        { name: null, options: { fen: "4k3/8/8/8/8/8/4P3/4K3 b - - 0 10", moves: "e8d7 e2e4" } },
      ],
    });
  });

  it("takes the first plies of each game", () => {
    const options = (plies: number) => {
      const read = openingsOf(BOOK, "pgn", 2, plies);
      return read.ok && read.value.map((opening) => opening.options.moves);
    };
    expect(options(1)).toEqual(["e2e4", "e8d7"]);
    expect(options(40)).toEqual(["e2e4 e7e5 g1f3 b8c6 f1b5", "e8d7 e2e4"]);
  });

  it("reads a game without tags", () => {
    expect(openingsOf("\n\n1. d4 d5 *\n", "pgn", 1)).toEqual({
      ok: true,
      value: [{ name: null, options: { moves: "d2d4 d7d5" } }],
    });
  });

  const GAME = `[Event "x"]\n\n1. e4 *\n\n`;
  it.each([
    ['[Event "bad"]\n\n1. e4 e5 2. Nf6 *', undefined, /^line 5: Invalid move in PGN: Nf6$/],
    ['[Event "bad"]\n\n1. e4 -- *', undefined, /^line 7: Expected/],
    ['[Event "none"]\n\n*', undefined, /^line 5: the game has no moves$/],
    ['[Event "mate"]\n\n1. f3 e5 2. g4 Qh4# 0-1', undefined, /^line 5: moves: the game is over after these moves$/],
    ['[Event "x"]\n[FEN "8/8/8/8/8/8/8/K6k b - - 0 1"]\n\n1... Kh2 *', 1, /^line 5: fen: Invalid FEN: neither/],
    [`[Event "long"]\n\n{${"x".repeat(100_000)}} 1. e4 *`, undefined, /^line 5: the game has more than 100000 char/],
  ])("names the line of a fault: %j", (game, plies, error) => {
    const read = openingsOf(GAME + game, "pgn", 2, plies);
    expect(read).toEqual({ ok: false, error: expect.stringMatching(error) });
  });

  it("the moves of an opening are options of chess, and lead to the position of the game", () => {
    const read = openingsOf(BOOK, "pgn", 1);
    const state = read.ok && chess.initialState({ options: chess.options.parse(read.value[0]?.options), seed: "" });
    expect(state).toMatchObject({ fen: "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3" });
  });
});

describe("the order of openings", () => {
  /** The initial position without one of the white pawns. */
  const POSITIONS = [..."abcdefgh"].map((_, file) => {
    const pawns = `${"P".repeat(file)}1${"P".repeat(7 - file)}`;
    return `rnbqkbnr/pppppppp/8/8/8/8/${pawns}/RNBQKBNR w KQkq - 0 1`;
  });
  const BOOK = bookOf(POSITIONS.join("\n"), "epd");
  const places = (count: number, order: "sequential" | "random", seed: string) => {
    const chosen = firstOpenings(BOOK, count, { order, seed });
    if (!chosen.ok) throw new Error(chosen.error);
    return chosen.value.map(({ options }) => POSITIONS.indexOf(options.fen ?? ""));
  };

  it("an opening that is used again is parsed once", () => {
    const chosen = firstOpenings(BOOK, 16, { order: "sequential", seed: "" });
    expect(chosen.ok && chosen.value[8]).toBe(chosen.ok && chosen.value[0]);
  });

  it("sequential follows the book and begins again after the last opening", () => {
    expect(places(10, "sequential", "a")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 0, 1]);
  });

  it("random uses every opening once before any a second time, in an order that depends on the seed alone", () => {
    const order = places(24, "random", "a");
    for (const cycle of [0, 8, 16]) expect(order.slice(cycle, cycle + 8).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(order.slice(0, 8)).not.toEqual(order.slice(8, 16));
    expect(places(24, "random", "b")).not.toEqual(order);
    expect(places(24, "random", "a")).toEqual(order);
  });
});

describe("files of opening books", () => {
  it("the ending of the file names the format", () => {
    expect(["a.epd", "B.EPD", "x.fen", "y.pgn", "z.txt", "pgn"].map(bookKindOf)).toEqual([
      ...["epd", "epd", "epd", "pgn"],
      ...[null, null],
    ]);
  });

  it("a book without openings is rejected", () => {
    expect(readBook("# nothing\n\n", "epd")).toEqual({ ok: false, error: "the book has no opening in EPD" });
    expect(readBook("\n \n", "pgn")).toEqual({ ok: false, error: "the book has no opening in PGN" });
  });
});
