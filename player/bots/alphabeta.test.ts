import { expect, test } from "vitest";
import { games } from "#shared/games/registry.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { isLongRun } from "#shared/lib/testing/long-run.ts";
import type { Turn } from "../sdk.ts";
import { playMatches } from "../testing/matches.ts";
import AlphaBeta from "./alphabeta.ts";

const chess = games["chess.v1"];

/** The move of the bot in a position. */
function moveIn(fen: string, bot = new AlphaBeta()): string {
  const view = chess.initialState({ options: { fen }, seed: "" });
  const legal = chess.legalActions(view, view.turn);
  return bot.choose({ view, legal, random: createRandom(fen) } as unknown as Turn<"chess.v1">);
}

const GAMES = isLongRun ? 100 : 10;

test(`it wins all of ${GAMES} games against random moves, half of them with each colour`, async () => {
  const { wins } = await playMatches("chess.v1", ["alphabeta", "random"], { count: GAMES });
  expect(wins).toBe(GAMES);
});

test("it mates, promotes before the pawn is lost, and takes a piece that is not defended", () => {
  expect(moveIn("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")).toBe("a1a8");
  expect(moveIn("8/P7/1k6/8/8/8/8/K7 w - - 0 1")).toBe("a7a8q");
  expect(moveIn("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")).toBe("e4d5");
});

test("it does not repeat a position while it stands better", () => {
  const bot = new AlphaBeta();
  const positions = ["7k/8/8/8/8/8/1Q6/K7 w - - 0 1", "6k1/8/8/8/8/8/1Q6/K7 w - - 4 3"];
  const moves = positions.flatMap((fen) => [moveIn(fen, bot), moveIn(fen, bot)]);
  // In the same position it chooses another move the second time, because the first one leads to a position that it knows.
  expect(moves[0]).not.toBe(moves[1]);
});
