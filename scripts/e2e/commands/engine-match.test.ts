import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, it } from "vitest";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { cleanUp, league, newFolder } from "../../testing/processes.ts";

let stockfish = "";
let gnuchess = "";
beforeAll(() => {
  stockfish = requireProgram(["/usr/games/stockfish", "/usr/bin/stockfish"], "stockfish");
  gnuchess = requireProgram(["/usr/games/gnuchess", "/usr/bin/gnuchess"], "gnuchess");
});
afterEach(cleanUp);

/** Black has no queen, so that it resigns. In the second opening the roles are exchanged. */
const BOOK = `rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - id "no black queen";
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - id "no white queen";
`;

it("league match plays engines with a book and adjudication, also over HTTP, and the export is verified", async () => {
  const data = newFolder();
  const book = join(data, "book.epd");
  writeFileSync(book, BOOK);
  const bots = [`uci:${stockfish}#depth=4,option.Hash=16`, `uci:${gnuchess} --uci#depth=2,option.OwnBook=false`];
  const settings = [
    "--game",
    "chess",
    "--openings",
    book,
    "--openings-order",
    "sequential",
    "--option",
    "resign_score=500",
  ];
  const args = ["match", ...bots, ...settings, "--games", "4", "--seed", "7", "--data", data, "--json", "--quiet"];
  const played = await league(args);
  expect(played.code, played.stderr).toBe(0);
  expect(JSON.parse(played.stdout)).toMatchObject({ pairs: [{ wins: 2, draws: 0, losses: 2 }] });

  const report = join(data, "report");
  const exported = join(data, "export");
  expect((await league(["export", data, "--format", "pgn", "--out", report])).code).toBe(0);
  const pgn = readFileSync(join(report, "games.pgn"), "utf8");
  expect(pgn.match(/\[Termination "adjudication"\]/g)).toHaveLength(4);
  expect(pgn.match(/resignation\}/g)).toHaveLength(4);
  expect((await league(["export", data, "--out", exported])).code).toBe(0);
  expect((await league(["verify", exported])).stdout).toMatch(/^verified\n4 matches replayed/m);

  const wire = await league([...args, "--wire"]);
  expect(JSON.parse(wire.stdout)).toEqual({ ...JSON.parse(played.stdout), mode: "wire" });
});
