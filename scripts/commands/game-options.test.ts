import { expect, it } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { kuhnPoker } from "#shared/games/kuhn-poker.ts";
import { rps } from "#shared/games/rps.ts";
import { gameHead, optionsOfCommand } from "./named-game.ts";

it("commands play rock, paper, scissors as a best of nine rounds unless an option says otherwise, and other games with their defaults", () => {
  expect(optionsOfCommand(rps, [])).toEqual({ best_of: 9 });
  expect(optionsOfCommand(rps, ["best_of=1"])).toEqual({ best_of: 1 });
  expect(optionsOfCommand(kuhnPoker, [])).toEqual({});
  expect(rps.options.parse({})).toEqual({ best_of: 1 });
});

it("the head of an output has the game and its options, also defaults, but no position of chess that was not given", () => {
  const fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
  expect(gameHead("rps.v1", rps, { best_of: 9 })).toBe("rps.v1 (best_of=9)");
  expect(gameHead("kuhn_poker.v1", kuhnPoker, {})).toBe("kuhn_poker.v1 (hands=10)");
  expect(gameHead("chess.v1", chess, {})).toBe("chess.v1");
  expect(gameHead("chess.v1", chess, { fen })).toBe(`chess.v1 (fen=${fen})`);
  expect(gameHead("other.v1", undefined, { size: 3 })).toBe("other.v1 (size=3)");
});
