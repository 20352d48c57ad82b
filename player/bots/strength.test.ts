import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { builtInBots } from "#shared/games/built-in-bots.ts";
import { clueFault } from "#shared/games/codenames-clues.ts";
import { WORDS } from "#shared/games/codenames-words.ts";
import { games } from "#shared/games/registry.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { playMatches } from "../testing/matches.ts";
import { bestColumn } from "./strategies/connect-four.ts";
import { bestCells } from "./strategies/tic-tac-toe.ts";
import { WORD_LISTS } from "./strategies/word-lists.ts";

test("the list of built-in bots names the files of this folder", () => {
  const files = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name.replace(/\.ts$/, "")).filter((name) => !/\.test$|^uci/.test(name));
  expect(names.sort()).toEqual([...builtInBots].sort());
});

describe("a bot wins most matches against a weaker one", () => {
  test.each([
    ["rps.v1", "markov", "counter", { best_of: 99 }, 20, 19],
    ["rps.v1", "markov", "cycle", { best_of: 99 }, 20, 19],
    ["rps.v1", "iocaine", "markov", { best_of: 99 }, 20, 19],
    ["rps.v1", "iocaine", "counter", { best_of: 99 }, 20, 19],
    ["rps.v1", "iocaine", "cycle", { best_of: 99 }, 20, 19],
    ["even_odd.v1", "pattern", "counter", {}, 200, 140],
    ["connect_four.v1", "minimax", "random", {}, 10, 10],
    ["kuhn_poker.v1", "equilibrium", "random", { hands: 100 }, 100, 75],
    ["codenames.v1", "wordlists", "random", {}, 50, 45],
    ["chess.v1", "alphabeta", "greedy", {}, 4, 4],
  ] as const)("%s: %s against %s", async (game, bot, opponent, options, count, least) => {
    const { wins, draws, losses } = await playMatches(game, [bot, opponent], { count, options });
    expect(wins + draws + losses).toBe(count);
    expect(wins).toBeGreaterThanOrEqual(least);
  });
});

test("against a random player iocaine is as good as any player: neither side wins clearly more often", async () => {
  const { wins, losses } = await playMatches("rps.v1", ["iocaine", "random"], { count: 100, options: { best_of: 99 } });
  expect(Math.abs(wins - losses)).toBeLessThan(40);
});

test("minimax never loses tic-tac-toe, and two of it always draw", async () => {
  expect(await playMatches("tic_tac_toe.v1", ["minimax", "random"], { count: 100 })).toMatchObject({ losses: 0 });
  expect(await playMatches("tic_tac_toe.v1", ["minimax", "minimax"], { count: 20 })).toMatchObject({ draws: 20 });
  expect(bestCells(["xx.", "oo.", "..."])).toEqual(["c3"]);
  expect(bestCells(["xx.", "o..", "..o"])).toEqual(["c3"]);
});

test("minimax completes a line of Connect Four, and else prevents one", () => {
  const empty = [".......", ".......", ".......", "......."];
  expect(bestColumn([...empty, "yyy....", "rrr...."])).toBe(4);
  expect(bestColumn([...empty, ".......", "rrr..yy".replace("yy", "y.")])).toBe(4);
});

test("no player wins chips from equilibrium on average: the game is worth 1/18 of a chip to the second player", async () => {
  const game = games["kuhn_poker.v1"];
  const { default: choose } = (await import("./equilibrium.ts")) as unknown as { default: (turn: object) => string };
  // A player that always bets and calls loses or wins nothing against the equilibrium, whether it acts first or second.
  const chipsOf = (hands: number): number => {
    let chips = 0;
    const random = createRandom("kuhn");
    for (let match = 0; match < hands / 100; match++) {
      let state = game.initialState({ options: { hands: 100 }, seed: `kuhn ${match}` });
      while (!game.isTerminal(state)) {
        const [role = ""] = game.toAct(state);
        const legal = game.legalActions(state, role);
        const bold = legal.includes("bet") ? "bet" : "call";
        const view = game.viewState(state, role);
        const action = role === "player_1" ? choose({ view, role, legal, random }) : bold;
        const next = game.applyAction(state, role, action as "bet");
        if (!next.ok) throw new Error(next.error.message);
        state = next.value;
      }
      chips += state.scores.player_1;
    }
    return chips / hands;
  };
  expect(chipsOf(50_000)).toBeGreaterThan(-0.02);
});

test("the word lists have every built-in word of Codenames, and their clues are legal with most boards", () => {
  const listed = new Set([...WORD_LISTS.values()].flat());
  expect(WORDS.filter((word) => !listed.has(word))).toEqual([]);
  expect([...listed].filter((word) => !WORDS.includes(word))).toEqual([]);
  const usable = [...WORD_LISTS.keys()].filter((clue) => clueFault(clue, WORDS, 2) === null);
  expect(usable.length / WORD_LISTS.size).toBeGreaterThan(0.9);
});
