import { expect, test } from "vitest";
import { chess } from "#shared/games/chess.ts";
import type { Game } from "#shared/games/game.ts";
import { viewAfter } from "./hosted-player.ts";

test.each([
  ["g1f3", "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1"],
  ["e2e4", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"],
])("a page shows the position after the own move %s before the referee has answered", (move, fen) => {
  const view = chess.viewState(chess.initialState({ options: chess.options.parse({}), seed: "" }), "white");
  const { moves: _, ...earlier } = view;
  for (const known of [view, earlier])
    expect(viewAfter(chess as unknown as Game, known, "white", move)).toMatchObject({ fen, moves: [move] });
});
