/** The games of the scenes of a league. */
import { codenames } from "#shared/games/codenames.ts";
import { dealtCards } from "#shared/games/kuhn-poker.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchSeeds } from "../../../league-manager/league/league.ts";
import { type Card, leaksIn } from "../../../referee/codenames/testing/key-secrecy.ts";
import { watchStream } from "../../../referee/play/testing/play.ts";
import { type Match, move, playerOf, round, untilRoundIsOver } from "./league-matches.ts";
import { LEAGUE, MATCH } from "./league-world.ts";
import type { Read, Scene } from "./table.ts";
import { differ, withoutHashes } from "./texts.ts";

export interface LeagueRead extends Read {
  /** The cards of a game of Codenames before the end of the turn; empty for other games. */
  readonly cards: readonly Card[];
}

/** The properties of a scene that differ between the scenes of a league. */
export interface LeagueScene extends Pick<Scene, "hidden" | "holders" | "isRevealed" | "seats"> {
  readonly game: string;
  readonly options: object;
  /** The seed of the run of each world. */
  readonly runSeeds: readonly string[];
  /** Plays up to the turn with the hidden information. */
  begin?(match: Match): Promise<void>;
  hide(match: Match, world: number): Promise<void>;
  close(match: Match): Promise<void>;
  /** The moves of the other match of the referee, each of which closes a turn. */
  readonly others: readonly [Step, Step];
  discloses?(texts: readonly string[], worlds: readonly LeagueRead[]): boolean;
}

type Step = (match: Match) => Promise<void>;
type Choices = Pick<LeagueScene, "game" | "options"> & {
  readonly seats: readonly [string, string];
  readonly before: readonly unknown[];
  readonly choices: readonly unknown[];
  readonly reply: unknown;
  /** A round without a winner. */
  readonly draw: readonly unknown[];
};

const SEED = sha256Hex("the seed of the run");

/** One of two roles has chosen, and the other role has not. */
export function sealedChoice(
  { game, options, seats, before, choices, reply, draw }: Choices,
  holder: 0 | 1,
): LeagueScene {
  const chooser = seats[holder];
  const other: Step = (match) => round(match, draw);
  return {
    game,
    options,
    seats,
    hidden: "choice",
    holders: [chooser],
    isRevealed: true,
    runSeeds: choices.map(() => SEED),
    begin: (match) => round(match, before),
    hide: (match, world) => move(match, chooser, choices[world]),
    close: (match) =>
      untilRoundIsOver(match, async () => {
        await move(match, seats[1 - holder] ?? "", reply);
        for (const player of match.players.values()) await player.asked();
      }),
    others: [other, other],
  };
}

export const RPS: Choices = {
  game: "rps.v1",
  options: { best_of: 9 },
  seats: ["player_1", "player_2"],
  before: ["rock", "paper"],
  choices: ["rock", "paper", "scissors"],
  reply: "rock",
  draw: ["paper", "paper"],
};
export const EVEN_ODD: Choices = {
  game: "even_odd.v1",
  options: { rounds_to_win: 9, max_rounds: 9 },
  seats: ["EVEN", "ODD"],
  before: [1, 2],
  choices: [1, 4, 5],
  reply: 2,
  draw: [1, 1],
};

const KUHN = ["player_1", "player_2"] as const;

/** Returns a seed of the run with which player_1 and player_2 of the match get these cards, and the other match always has the same cards. */
function runSeedFor(...cards: readonly [string, string]): string {
  for (let n = 0; ; n++) {
    const seed = sha256Hex(`the seed of run ${n}`);
    const dealt = (matchId: string): string =>
      Object.values(dealtCards(matchSeeds(seed)(LEAGUE, matchId, 1), 1)).join();
    if (dealt(MATCH) === cards.join() && dealt(OTHER_MATCH) === "queen,king") return seed;
  }
}

/** The other match of the first referee. */
const OTHER_MATCH = "R1M3";

/** One role has the jack or the king; the other role always has the queen. */
export const dealtCard = (holder: 0 | 1): LeagueScene => ({
  game: "kuhn_poker.v1",
  options: { hands: 2 },
  seats: KUHN,
  hidden: "card",
  holders: [KUHN[holder]],
  isRevealed: true,
  runSeeds: ["jack", "king"].map((card) => (holder === 0 ? runSeedFor(card, "queen") : runSeedFor("queen", card))),
  async hide(match) {
    await move(match, "player_1", "bet");
    await playerOf(match, "player_2").asked();
  },
  close: (match) => untilRoundIsOver(match, () => move(match, "player_2", "call")),
  others: [
    async (match) => {
      await move(match, "player_1", "check");
      await playerOf(match, "player_2").asked();
    },
    async (match) => {
      await move(match, "player_2", "bet");
      await playerOf(match, "player_1").asked();
    },
  ],
  discloses: (texts) => differ(texts.map(withoutHashes)),
});

const CODENAMES_OPTIONS = { starting_team: "red" };

/** Returns the first word of the board with this identity. */
const wordOf = ({ seed }: Match, identity: string): string | undefined =>
  codenames
    .initialState({ options: codenames.options.parse(CODENAMES_OPTIONS), seed })
    .cards.find((card) => card.identity === identity)?.word;

/** Gives a clue as the spymaster of a team. */
const clue = (match: Match, team: string, word: string): Promise<void> =>
  move(match, `${team}_spymaster`, { type: "clue", word, number: 2 });
/** Guesses a card of this identity as a team. */
const guess = (match: Match, team: string, identity: string): Promise<void> =>
  move(match, `${team}_team`, { type: "guess", word: wordOf(match, identity) });

/** Both spymasters have been asked, and the red team has guessed a neutral card. */
export const codenamesKey: LeagueScene = {
  game: "codenames.v1",
  options: CODENAMES_OPTIONS,
  runSeeds: [SEED],
  seats: ["red_spymaster", "red_team", "blue_spymaster", "blue_team"],
  hidden: "key",
  holders: ["red_spymaster", "blue_spymaster"],
  isRevealed: false,
  async begin(match) {
    await clue(match, "red", "YYYYY");
    await guess(match, "red", "neutral");
  },
  hide: (match) => clue(match, "blue", "ZZZZZ"),
  close: (match) => guess(match, "blue", "blue"),
  others: [(match) => clue(match, "red", "YYYYY"), (match) => guess(match, "red", "red")],
  // After a guess the uncovered card is no longer hidden.
  discloses: (texts, worlds) => texts.some((text, at) => leaksIn(text, worlds[at]?.cards ?? []).length > 0),
};

/** The match ends with the turn, and its seed is revealed. */
export const seedOfMatch: LeagueScene = {
  ...sealedChoice({ ...RPS, choices: ["rock"] }, 0),
  options: { best_of: 3 },
  hidden: "seed",
  holders: [],
  begin: (match) => round(match, ["rock", "scissors"]),
  async close(match) {
    const { manager } = match.league;
    const recorded = await watchStream(manager, `/leagues/${LEAGUE}/events?from=0&types=match_completed`);
    await move(match, "player_2", "scissors");
    await recorded.next();
    recorded.close();
    for (const player of match.players.values()) await player.receives("GAME_RESULT");
  },
  others: [(match) => round(match, RPS.draw), (match) => round(match, RPS.draw)],
  discloses: (texts) => texts.some((text) => text.includes(matchSeeds(SEED)(LEAGUE, MATCH, 1))),
};
