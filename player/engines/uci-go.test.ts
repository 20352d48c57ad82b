import { describe, expect, it } from "vitest";
import type { MatchClocks } from "../sdk.ts";
import { goCommand, limitsOf } from "./uci-bot.ts";
import { nodesIn, scoreIn } from "./uci-process.ts";

const turn = (match: MatchClocks | null) => ({
  role: "white",
  clock: { deadline: new Date(0), remainingMs: () => 1, match },
});
const goOf = (settings: object, clocks: MatchClocks | null, waitedMs = 0): string =>
  goCommand(limitsOf(settings, turn(clocks).clock), turn(clocks), waitedMs);
const CLOCKS = { initialMs: 60_000, incrementMs: 500, remainingMs: { white: 40_000.4, black: 30_000 } };

describe("the limit of a search", () => {
  it.each([
    [{}, "go nodes 10000"],
    [{ nodes: 77 }, "go nodes 77"],
    [{ depth: 5, nodes: 9 }, "go nodes 9 depth 5"],
    [{ movetime_ms: 300 }, "go movetime 300"],
  ])("%j", (limits, go) => {
    expect(goOf(limits, null)).toBe(go);
    // A limit takes precedence over the clocks, so that a search can be repeated.
    if (Object.keys(limits).length > 0) expect(goOf(limits, CLOCKS)).toBe(go);
  });

  it("without a limit, an engine receives the clocks of the match, without the time for which its turn has waited and a reserve for messages", () => {
    expect(goOf({}, CLOCKS)).toBe("go wtime 39750 btime 30000 winc 500 binc 500");
    expect(goOf({}, CLOCKS, 10_000)).toBe("go wtime 29750 btime 30000 winc 500 binc 500");
    expect(goOf({}, CLOCKS, 39_600)).toBe("go wtime 300 btime 30000 winc 500 binc 500");
    expect(goOf({}, CLOCKS, 90_000)).toBe("go wtime 1 btime 30000 winc 500 binc 500");
  });
});

describe("the score in a line of an engine", () => {
  it.each([
    ["info depth 3 seldepth 2 multipv 1 score cp -5 nodes 153 pv e7e5", "cp -5"],
    ["info score mate -3", "mate -3"],
    ["info depth 3 score cp 12 upperbound nodes 1", null],
    ["info depth 3 multipv 2 score cp 12 nodes 1", null],
    ["info string the score cp is fine", null],
    ["info depth 3 nodes 1", null],
  ])("%s", (line, score) => expect(scoreIn(line)).toBe(score));
});

it.each([
  ["info depth 3 score cp 1 nodes 153 nps 153000 pv e7e5", 153],
  ["info nodes 5", 5],
  ["info string 12 nodes 7", 0],
  ["info depth 3", 0],
  ["bestmove e2e4 nodes 4", 0],
])("the number of positions in a line of an engine: %s", (line, nodes) => expect(nodesIn(line)).toBe(nodes));
