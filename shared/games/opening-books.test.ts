import { describe, expect, it } from "vitest";
import { chess } from "./chess.ts";
import { type BookBytes, bookKindOf, firstOpenings, type OpeningBook, readBook } from "./opening-books.ts";

const IN_ORDER = { order: "sequential", seed: "" } as const;

/** The bytes of a book, in pieces of five bytes. */
function bytesOf(text: string | Buffer): BookBytes {
  const bytes = Buffer.from(text as string);
  return {
    *pieces() {
      for (let at = 0; at < bytes.length; at += 5) yield bytes.subarray(at, at + 5);
    },
    read: (start, end) => bytes.subarray(start, end),
  };
}

function bookOf(text: string | Buffer, kind: "epd" | "pgn"): OpeningBook {
  const book = readBook(bytesOf(text), kind);
  if (!book.ok) throw new Error(book.error);
  return book.value;
}
function openingsOf(text: string | Buffer, kind: "epd" | "pgn", count: number, plies?: number) {
  const chosen = firstOpenings(bookOf(text, kind), count, { ...IN_ORDER, plies });
  return chosen.ok ? { ok: true, value: chosen.value.openings } : chosen;
}

/** The openings of a book, each as its moves or its position, and the faults of the skipped entries. */
function readOnce(text: string | Buffer, kind: "epd" | "pgn", plies?: number) {
  const book = bookOf(text, kind);
  const chosen = firstOpenings(book, book.starts.length, { ...IN_ORDER, plies, isOnce: true });
  if (!chosen.ok) return chosen.error;
  const { openings, ...skipped } = chosen.value;
  return { openings: openings.map(({ options }) => options.moves ?? options.fen), ...skipped };
}
const used = (...openings: readonly string[]) => ({ openings, skipped: 0, firstFault: null });

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
    [
      "bqnrkrbn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRBN w FDfd -",
      "line 4: Invalid FEN: castling with the rook on file F, as in Chess960",
    ],
    ["k7/8/1Q6/8/8/8/8/K7 b - -", "line 4: Invalid FEN: the side to move has no legal move"],
    [`${AFTER_E4} id "${"x".repeat(1_000)}"`, "line 4: more than 1000 characters"],
  ])("skips a line with a fault, and names the first one: %s", (line, error) => {
    const fen = `${AFTER_E4} 0 1`;
    const read = readOnce(`${AFTER_E4}\n\n${AFTER_E4}\n${line}\n${line}`, "epd");
    expect(read).toEqual({ openings: [fen, fen], skipped: 2, firstFault: error });
  });

  const KINGS = "4k3/8/8/8/8/8/4P3/4K3 w - -";
  it.each([
    ["a byte order mark", `\uFEFF${KINGS}`, `${KINGS} 0 1`],
    ["two fields", "4k3/8/8/8/8/8/4P3/4K3 w", `${KINGS} 0 1`],
    ["five fields", `${KINGS} 7`, `${KINGS} 7 1`],
    ["the move number 0", `${KINGS} 0 0`, `${KINGS} 0 1`],
    ["a half-move clock of 100", `${KINGS} 100 80`, `${KINGS} 0 80`],
    ["an upper-case side", `${KINGS.replace(" w ", " W ")} 0 2`, `${KINGS} 0 2`],
    ["a comment with a semicolon", `; a comment\n${KINGS}`, `${KINGS} 0 1`],
    ["a remark after the fields", `${KINGS} 0 2 # a remark`, `${KINGS} 0 2`],
    ["operations without semicolons", `${KINGS} bm e4 hmvc 3 id "a; b" fmvn 9`, `${KINGS} 3 9`],
    ["old line ends", `# a\r${KINGS}\r`, `${KINGS} 0 1`],
    ["castling in another order", "r3k2r/8/8/8/8/8/8/R3K2R w qKkQ -", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"],
    ["castling by files", "r3k2r/8/8/8/8/8/8/R3K2R w HAha -", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"],
    ["castling without rooks", "r3k3/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "r3k3/8/8/8/8/8/8/R3K2R w KQq - 0 1"],
    ["an en passant square without a pawn", `${KINGS.slice(0, -1)}e6 0 1`, `${KINGS} 0 1`],
    [
      "an en passant square without a capture",
      "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6",
      "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1",
    ],
  ])("reads a position with %s", (_, line, fen) => expect(readOnce(`${line}\n`, "epd")).toEqual(used(fen)));

  it("reads the name without a semicolon after it", () => {
    const book = `${KINGS} id "a; b"\n${KINGS} id King and pawn; bm e4;\n${KINGS} bm e4 id "c" fmvn 3\n`;
    const read = openingsOf(book, "epd", 3);
    expect(read).toMatchObject({ value: [{ name: "a; b" }, { name: "King and pawn" }, { name: "c" }] });
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
      return "value" in read && read.value.map((opening) => opening.options.moves);
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
    ['[Event "bad"]\n\n1. e4 e5 2. Nf6 *', undefined, /^line 7: Invalid move in PGN: Nf6$/],
    ['[Event "bad"]\n\n1. e4 -- *', undefined, /^line 7: a null move is not a move of chess$/],
    ['[Event "bad"]\n\n1. d4 d5 2. Nf3 Nf6\n3. Nd2 *', undefined, /^line 8: Invalid move in PGN: Nd2$/],
    ['[Event "x"]\n[Variant "Atomic"]\n\n1. e4 *', undefined, /^line 5: the variant Atomic is not chess$/],
    ['[Event "none"]\n\n*', undefined, /^line 5: the game has no moves$/],
    ['[Event "mate"]\n\n1. f3 e5 2. g4 Qh4# 0-1', undefined, /^line 5: moves: the game is over after these moves$/],
    ['[Event "x"]\n[FEN "8/8/8/8/8/8/8/K6k b - - 0 1"]\n\n1... Kh2 *', 1, /^line 5: FEN: Invalid FEN: neither/],
    [`[Event "long"]\n\n{${"x".repeat(100_000)}} 1. e4 *`, undefined, /^line 5: the game has more than 100000 char/],
  ])("skips a game with a fault, and names the first one: %j", (game, plies, error) => {
    const read = readOnce(`${GAME}${game}\n\n${GAME}`, "pgn", plies);
    expect(read).toEqual({ openings: ["e2e4", "e2e4"], skipped: 1, firstFault: expect.stringMatching(error) });
  });

  it("a book fails if no game of it is usable, with the first fault", () => {
    expect(readOnce('[Event "a"]\n\n*\n\n[Event "b"]\n\n*\n', "pgn")).toBe(
      "line 1: the game has no moves; the book has no usable opening (2 tried)",
    );
    expect(readOnce('[Event "a"]\n\n1. e5 *', "pgn")).toBe("line 3: Invalid move in PGN: e5");
  });

  it("a fault after the wanted plies has no effect", () => {
    const games = ["1. e4 e5 2. Nf6 *", "1. e4 e5 -- *", "1. e4 e5 {open"];
    const book = games.map((game) => `[Event "x"]\n\n${game}\n\n`).join("");
    expect(readOnce(book, "pgn", 2)).toEqual(used("e2e4 e7e5", "e2e4 e7e5", "e2e4 e7e5"));
  });

  const TAGS = '[Event "t"]\n[Result "*"]\n\n';
  const OPEN = "e2e4 e7e5";
  it.each([
    ["a result directly after a move", "1. e4 e5*", OPEN],
    ["signs of novelties directly after moves", "1. e4N e5!TN *", OPEN],
    ["a byte order mark", `\uFEFF${TAGS}1. e4 e5 *`, OPEN],
    ["a comment before the first tag", `{ notes about\nthis file }\n\n${TAGS}1. e4 e5 *`, OPEN],
    ["a remark before the first tag", `; notes\n% notes\n${TAGS}1. e4 e5 *`, OPEN],
    ["two comments in a row", `${TAGS}1. e4 {a} {b} e5 {c} ; d\n {e} *`, OPEN],
    ["a comment before the first move", `${TAGS}{ my notes } 1. e4 {x} e5 *`, OPEN],
    ["a NAG after a comment", `${TAGS}1. e4 {a} $1 $14 e5 $2 {b} *`, OPEN],
    ["signs of annotators", `${TAGS}1. e4 += e5!? N 2. Nf3 = Nc6+- 3. Bb5± ∞ *`, `${OPEN} g1f3 b8c6 f1b5`],
    ["null moves in a variation", `${TAGS}1. e4 (1. -- e5) (1. Z0) e5 *`, OPEN],
    ["comments in variations", `${TAGS}1. e4 e5 ({better)} 1... c5 {x} 2. Nf3 (2. c3 d5)) 2. Nf3 *`, `${OPEN} g1f3`],
    ["e.p. after a move", `${TAGS}1. e4 a6 2. e5 d5 3. exd6e.p. exd6 *`, "e2e4 a7a6 e4e5 d7d5 e5d6 e7d6"],
    ["e.p. as a word", `${TAGS}1. e4 a6 2. e5 d5 3. exd6 e.p. exd6 *`, "e2e4 a7a6 e4e5 d7d5 e5d6 e7d6"],
    ["escaped quotes", `[Event "The \\"Big\\" Open\\\\"]\n\n1. e4 e5 *`, OPEN],
    ["quotes without a backslash", `[Event "The "Big" Open"]\n\n1. e4 e5 *`, OPEN],
    ["tags on one line", `[Event "a"] [Site "b]"] ; a remark\n1. e4 e5 *`, OPEN],
    ["a tag without a value", `[Event]\n[White x]\n\n1. e4 e5 *`, OPEN],
    ["dots as other programs write them", `${TAGS}1.e4 1. ... e5 2 . Nf3 2... Nc6 *`, `${OPEN} g1f3 b8c6`],
    ["no result", '[Event "t"]\n\n1. e4 e5 2. Nf3', `${OPEN} g1f3`],
    ["zeros for castling", `${TAGS}1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 *`, `${OPEN} g1f3 b8c6 f1c4 f8c5 e1g1`],
    ["moves in long form and in UCI", `${TAGS}1. e2-e4 e7e5 2. Ng1-f3 b8c6 3. Bf1c4 *`, `${OPEN} g1f3 b8c6 f1c4`],
    ["a missing sign of check", `${TAGS}1. e4 e5 2. Qh5 Nc6 3. Qxf7 Kxf7 *`, `${OPEN} d1h5 b8c6 h5f7 e8f7`],
    ["a brace within a comment", `${TAGS}1. e4 { a { b } e5 *`, OPEN],
    ["a line for other programs", `${TAGS}% [Event 1. d4\n1. e4 e5 *`, OPEN],
    ["a tag within a comment", `${TAGS}1. e4 {see\n[Event "no tag"]\n} e5 *`, OPEN],
    ["old line ends", `${TAGS}1. e4 ; a\ne5 *`.replaceAll("\n", "\r"), OPEN],
    ["a lower-case promotion", `[FEN "8/P6k/8/8/8/8/7p/K7 w - - 0 1"]\n\n1. a8=q *`, "a7a8q"],
    ["impossible castling in the tag FEN", `[FEN "7k/5K2/4R3/8/8/8/7P/8 w KQkq - 0 0"]\n\n1. h3 *`, "h2h3"],
  ])("reads a game with %s", (_, game, moves) => expect(readOnce(game, "pgn")).toEqual(used(moves)));

  it("reads indented games, games without moves and games after a comment that is not closed", () => {
    expect(readOnce('  [Event "t"]\n  [Site "x"]\n\n  1. e4 *\n\n  [Event "u"]\n\n  1. d4 *', "pgn")).toEqual(
      used("e2e4", "d2d4"),
    );
    const empty = '[Event "a"]\n[Site "x"]\n\n[Event "b"]\n[Site "y"]\n\n1. e4 *';
    expect(readOnce(empty, "pgn")).toMatchObject({ openings: ["e2e4"], skipped: 1 });
    expect(readOnce('[Event "a"]\n\n1. e4 {open\n\n[Event "b"]\n\n1. d4 *', "pgn")).toEqual(used("e2e4", "d2d4"));
  });

  it("reads names in UTF-8 and in Latin-1", () => {
    const book = '[Opening "Grünfeld"]\n\n1. d4 {größer} Nf6 *\n';
    for (const bytes of [Buffer.from(book), Buffer.from(book, "latin1")]) {
      expect(openingsOf(bytes, "pgn", 1)).toEqual({
        ok: true,
        value: [{ name: "Grünfeld", options: { moves: "d2d4 g8f6" } }],
      });
    }
  });

  it("the moves of an opening are options of chess, and lead to the position of the game", () => {
    const read = openingsOf(BOOK, "pgn", 1);
    const [opening] = "value" in read ? read.value : [];
    const state = chess.initialState({ options: chess.options.parse(opening?.options), seed: "" });
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
    return chosen.value.openings.map(({ options }) => POSITIONS.indexOf(options.fen ?? ""));
  };

  it("an opening that is used again is parsed once", () => {
    const chosen = firstOpenings(BOOK, 16, { order: "sequential", seed: "" });
    expect(chosen.ok && chosen.value.openings[8]).toBe(chosen.ok && chosen.value.openings[0]);
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
      "epd",
      "epd",
      "epd",
      "pgn",
      null,
      null,
    ]);
  });

  it("a book without openings is rejected", () => {
    expect(readBook(bytesOf("# nothing\n\n"), "epd")).toEqual({ ok: false, error: "the book has no opening in EPD" });
    expect(readBook(bytesOf("\n \n"), "pgn")).toEqual({ ok: false, error: "the book has no opening in PGN" });
  });
});
