import type { Opponent } from "./new-game-choices.ts";
import type { GameId } from "./registry.ts";

interface BuiltInBot {
  /** The games that it plays; all games if absent. */
  readonly games?: readonly GameId[];
  /** What it does, as a sentence without a full stop, for tables and help texts. */
  readonly description: string;
}

/** The bots of this project by name. Each is a file in `player/bots`. */
export const BUILT_IN_BOTS: Readonly<Record<string, BuiltInBot>> = {
  alphabeta: {
    games: ["chess.v1"],
    description: "chess: searches a few moves ahead by alpha-beta with a fixed number of positions",
  },
  counter: {
    description:
      "rock, paper, scissors and even/odd: the choice that wins against the opponent's most frequent choice in the match; chess: of three random moves, the one that leaves the opponent the fewest replies; other games: a random legal action",
  },
  cycle: { description: "the legal actions in order, the next one at each tick" },
  equilibrium: {
    games: ["kuhn_poker.v1"],
    description: "Kuhn poker: a Nash equilibrium, so that no opponent wins against it in the long run",
  },
  greedy: {
    description:
      "chess: the move with the largest gain of material after the opponent's best capture; other games: a random legal action",
  },
  iocaine: {
    games: ["rps.v1"],
    description:
      "rock, paper, scissors: follows the best of several predictions, also of what the opponent expects, in the manner of Iocaine Powder (1999)",
  },
  markov: {
    games: ["rps.v1"],
    description: "rock, paper, scissors: expects what followed the longest repetition of the last rounds",
  },
  minimax: {
    games: ["tic_tac_toe.v1", "connect_four.v1"],
    description: "tic-tac-toe: perfect play; Connect Four: searches ahead with a fixed number of positions",
  },
  pattern: {
    games: ["even_odd.v1"],
    description: "even/odd: expects the parity, or the guess, that followed the same last rounds most often",
  },
  random: { description: "a random legal action; all are equally likely" },
  wordlists: {
    games: ["codenames.v1"],
    description: "Codenames: clues and guesses by lists of related words, for a pair of players",
  },
};

export const builtInBots: readonly string[] = Object.keys(BUILT_IN_BOTS);

/** Returns whether a built-in bot plays a game. Bots of all games also play games of files. */
export const playsGame = (bot: string, gameId: string): boolean => {
  const games: readonly string[] | undefined = BUILT_IN_BOTS[bot]?.games;
  return games === undefined || games.includes(gameId);
};

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
