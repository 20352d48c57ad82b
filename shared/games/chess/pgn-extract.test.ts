import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { pgnGame } from "../testing/pgn-games.ts";
import { pgnOf } from "./pgn.ts";

let program = "";
beforeAll(() => {
  program = requireProgram(["/usr/games/pgn-extract", "/usr/bin/pgn-extract"], "pgn-extract");
});

/** Runs pgn-extract without its report of progress, so that it prints to stderr only complaints. */
const pgnExtract = (input: string, ...options: readonly string[]) =>
  spawnSync(program, ["-s", ...options], { input, encoding: "utf8", maxBuffer: 1e8 });

describe("pgn-extract", () => {
  const games = fc.sample(pgnGame, { numRuns: 400, seed: 20 });

  it("reads random games with hostile names and comments without a complaint", () => {
    const { stderr, stdout } = pgnExtract(games.map(pgnOf).join(""), "-Wuci", "-C", "--notags", "-w100000");
    expect(stderr).toBe("");
    // pgn-extract prints the piece of a promotion in upper case.
    const read = stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.toLowerCase()]));
    expect(read).toEqual(games.map(({ moves, result }) => [...moves.map(({ uci }) => uci), result].join(" ")));
  });

  it("reports a game with an illegal move, so that its silence means something", () => {
    const [game] = games.filter(({ moves }) => moves.length > 0);
    if (!game) throw new Error("no game has a move");
    expect(pgnExtract(pgnOf({ ...game, moves: [] }).replace(/ ?\S+\n\n$/, " 1. Qh9 *\n\n"), "-r").stderr).not.toBe("");
  });
});
