import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "./config-file.ts";
import { openingsOfBook } from "./openings.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "openings-"));
  writeFileSync(join(folder, "book.pgn"), '[Event "a"]\n1. e4 e5 2. Nf3 *\n\n[Event "b"]\n1. d4 *\n');
  writeFileSync(join(folder, "book.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - -\n");
  writeFileSync(join(folder, "bad.epd"), "4k3 w - -\n");
  writeFileSync(join(folder, "part.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - -\n4k3 w - -\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the openings of a league with this field, or the faults of the config. */
async function openingsOf(openings: unknown, game = "chess.v1"): Promise<unknown> {
  const file = join(folder, "league.json");
  writeFileSync(file, JSON.stringify({ leagues: [{ league_id: "a", game, openings }] }));
  const loaded = await loadConfig(file, {});
  return loaded.ok
    ? loaded.value.config.leagues[0]?.openings
    : loaded.error.map((line) => line.split(" ").slice(1).join(" "));
}

describe("openings of a league", () => {
  it("are read from a book that is found relative to the config", async () => {
    expect(await openingsOf("book.pgn")).toEqual([{ moves: "e2e4 e7e5 g1f3" }, { moves: "d2d4" }]);
    expect(await openingsOf("book.epd")).toEqual([{ fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" }]);
    expect(await openingsOf({ file: "book.pgn", plies: 1, count: 1 })).toEqual([{ moves: "e2e4" }]);
  });

  it("are listed in the config itself", async () => {
    expect(await openingsOf([{ moves: "e2e4" }])).toEqual([{ moves: "e2e4" }]);
    expect(await openingsOf(undefined)).toBeUndefined();
  });

  it("have a random order that depends on the seed alone", async () => {
    const order = async (seed: string) => openingsOf({ file: "book.pgn", order: "random", seed });
    const orders = await Promise.all(["1", "2", "3", "4", "5", "6"].map(order));
    expect(await order("1")).toEqual(orders[0]);
    expect(new Set(orders.map((one) => JSON.stringify(one))).size).toBe(2);
  });

  it.each([
    ["none.epd", "leagues[0].openings: none.epd: no such file; the path is relative to the folder of the config"],
    ["bad.epd", "leagues[0].openings: bad.epd: line 1: Invalid FEN: piece data"],
    ["book.txt", "leagues[0].openings: must be a book with the ending .epd, .fen or .pgn"],
    [{ file: "book.pgn", ply: 3 }, 'leagues[0].openings.ply: unknown field "ply"'],
    [{ file: "book.pgn", plies: 0 }, "leagues[0].openings.plies: must be at least 1"],
    [[{ moves: "e2e5" }], "leagues[0].openings[0]: is not an opening of chess.v1: ply 1: e2e5 is not a legal move"],
  ])("the fault of %j is named", async (openings, fault) => {
    expect(await openingsOf(openings)).toEqual([expect.stringContaining(fault)]);
  });

  it("that are not usable are left out, with a notice", async () => {
    expect(await openingsOf("part.epd")).toEqual([{ fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" }]);
    const loaded = await loadConfig(join(folder, "league.json"), {});
    const notice = expect.stringMatching(/^part\.epd: one opening is skipped; the first: line 2: Invalid FEN: /);
    expect(loaded.ok && loaded.value.notices).toEqual([notice]);
  });

  it("come from any place of a book of 100,000 games", () => {
    const game = (number: number) =>
      `[Event "${number}"]\n[Round "${number}"]\n\n1. e4 {a comment} ${number % 7 === 6 ? "Ke7" : "e5"} *\n\n`;
    const file = join(folder, "large.pgn");
    writeFileSync(file, Array.from({ length: 100_000 }, (_, number) => game(number)).join(""));
    const taken = openingsOfBook(file, 500, { order: "random", seed: "1" });
    expect(taken.ok && new Set(taken.value.options.map((options) => JSON.stringify(options)))).toEqual(
      new Set(['{"moves":"e2e4 e7e5"}']),
    );
    expect(taken.ok && taken.value.options.length).toBe(500);
    expect(taken.ok && taken.value.notice).toMatch(
      /^\d+ openings are skipped; the first: line \d+4: Invalid move in PGN: Ke7$/,
    );
  });

  it("belong to chess", async () => {
    expect(await openingsOf("book.epd", "rps.v1")).toEqual([expect.stringContaining("is not an opening of rps.v1")]);
  });
});
