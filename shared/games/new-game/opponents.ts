import { playsGame } from "../built-in-bots.ts";
import type { Opponent } from "./choices.ts";

/**
 * How built-in bots play each game, the weakest first. A bot that plays a game only by random actions is not listed
 * besides `random`.
 */
const BUILT_IN: Readonly<Record<string, readonly Opponent[]>> = {
  "chess.v1": [
    { bot: "random", level: "very easy", description: "plays any legal move" },
    { bot: "counter", level: "very easy", description: "prefers moves that leave you few replies" },
    { bot: "greedy", level: "easy", description: "takes what it can, and looks at your best capture" },
    { bot: "alphabeta", level: "medium", description: "searches a few moves ahead" },
  ],
  "tic_tac_toe.v1": [
    { bot: "random", level: "very easy", description: "marks any free square" },
    { bot: "minimax", level: "very hard", description: "plays perfectly: a draw is the best you can reach" },
  ],
  "connect_four.v1": [
    { bot: "random", level: "very easy", description: "drops its disc anywhere" },
    { bot: "minimax", level: "hard", description: "searches ahead" },
  ],
  "rps.v1": [
    { bot: "cycle", level: "very easy", description: "plays rock, paper and scissors in order" },
    { bot: "random", level: "easy", description: "chooses at random, so that you cannot predict it" },
    { bot: "counter", level: "easy", description: "beats the choice that you make most often" },
    { bot: "markov", level: "medium", description: "remembers what you play after the same rounds" },
    { bot: "iocaine", level: "hard", description: "predicts you, and what you predict of it" },
  ],
  "even_odd.v1": [
    { bot: "random", level: "easy", description: "chooses at random" },
    { bot: "counter", level: "easy", description: "answers the choice that you make most often" },
    { bot: "pattern", level: "medium", description: "remembers what you play after the same rounds" },
  ],
  "kuhn_poker.v1": [
    { bot: "random", level: "very easy", description: "bets, calls and folds at random" },
    { bot: "equilibrium", level: "hard", description: "plays an optimal strategy: no player beats it in the long run" },
  ],
  "codenames.v1": [{ bot: "wordlists", level: "easy", description: "clues and guesses by lists of related words" }],
};

/** The bots that a game without a list has. */
const OTHERS: readonly Opponent[] = [
  { bot: "random", level: "very easy", description: "plays any legal move" },
  { bot: "cycle", level: "very easy", description: "plays the legal moves in order" },
];

/** Returns the built-in opponents of a game, the weakest first. */
export const builtInOpponents = (gameId: string): readonly Opponent[] =>
  (BUILT_IN[gameId] ?? OTHERS).filter(({ bot }) => playsGame(bot, gameId));
