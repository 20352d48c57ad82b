import { type Counts, countPairs, countsOfGames } from "#shared/statistics/counts.ts";
import { gamesUntilSignificant, type Strength, strengthOf } from "#shared/statistics/elo.ts";
import { gamesUntilDecided, type SprtOptions, type SprtStatus, sprtStatus } from "#shared/statistics/sprt.ts";
import type { Match, Round } from "../../league-manager/league/league.ts";
import { CANCELLED } from "../../league-manager/league/outcome.ts";

/** The number of matches that a player lost by forfeit, by the cause of its fault. */
export type Forfeits = Readonly<Record<string, number>>;

/** The games of two players. */
export interface Score {
  /** The ids of the players. All counts are those of the first one. */
  readonly players: readonly [string, string];
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  /** The games that both players forfeited. Both lost, so they are not counted above. */
  readonly bothForfeited: number;
  /** The games that do not count, because the game or this program failed. */
  readonly aborted: number;
  /** How often the first player has 0, ½, 1, 1½ and 2 points in a pair of games with exchanged roles. */
  readonly pairs: readonly [number, number, number, number, number];
  readonly forfeits: readonly [Forfeits, Forfeits];
}

type Mutable = {
  -readonly [K in keyof Score]: K extends "pairs"
    ? number[]
    : K extends "forfeits"
      ? [Record<string, number>, Record<string, number>]
      : Score[K];
};

const newScore = (players: readonly [string, string]): Mutable => ({
  players,
  ...{ wins: 0, draws: 0, losses: 0, bothForfeited: 0, aborted: 0 },
  pairs: [0, 0, 0, 0, 0],
  forfeits: [{}, {}],
});

/** Returns the scores of all players that have met, in the order of `playerIds`, for a game of two roles. */
export function scoresOf(rounds: readonly Round[], playerIds: readonly string[]): readonly Score[] {
  const scores = new Map<string, Mutable>();
  for (const [index, first] of playerIds.entries()) {
    for (const second of playerIds.slice(index + 1)) scores.set(`${first} ${second}`, newScore([first, second]));
  }
  const scoreOf = ({ players: [a = "", b = ""] }: Match): Mutable | undefined =>
    scores.get(`${a} ${b}`) ?? scores.get(`${b} ${a}`);
  for (const { matches } of rounds) {
    for (const match of matches) {
      const score = scoreOf(match);
      if (score) addMatch(score, match);
    }
    countPairs(matches, (match) => {
      const score = scoreOf(match);
      return score && { player: score.players[0], pairs: score.pairs };
    });
  }
  return [...scores.values()] as unknown as readonly Score[];
}

/** Whether a match is over. A sequential test cancels the matches that are open when it ends. */
export const isPlayed = ({ outcome }: Match): boolean => outcome !== null && outcome.reason !== CANCELLED;

/** Adds a match. A match that is not played has no effect. */
function addMatch(score: Mutable, match: Match): void {
  const { players, outcome } = match;
  if (outcome === null || !isPlayed(match)) return;
  const [first, second] = score.players;
  for (const { player_id, cause } of outcome.faults) {
    const forfeits = score.forfeits[player_id === second ? 1 : 0];
    forfeits[cause] = (forfeits[cause] ?? 0) + 1;
  }
  const points = outcome.points[players.indexOf(first)];
  if (points === undefined) score.aborted++;
  else if (points === 3) score.wins++;
  else if (points === 1) score.draws++;
  else if (outcome.points.includes(3)) score.losses++;
  else score.bothForfeited++;
}

/** What the games of two players show. */
export interface Comparison extends Score {
  /** The number of games that count. */
  readonly games: number;
  readonly strength: Strength;
  /** Whether the statistics count pairs of games, which share an opening, instead of games. */
  readonly usesPairs: boolean;
  readonly sprt: SprtStatus | null;
  /** About how many more games are needed for a decision; 0 if there is one, null without an estimate. */
  readonly gamesNeeded: number | null;
}

/** Computes the statistics of a score. `sprt` are the options of the sequential test; null without one. */
export function comparisonOf(score: Score, usesPairs: boolean, sprt: SprtOptions | null): Comparison {
  const { wins, draws, losses, pairs } = score;
  const counts: Counts = usesPairs ? pairs : countsOfGames({ wins, draws, losses });
  return {
    ...score,
    games: wins + draws + losses,
    usesPairs,
    strength: strengthOf(counts),
    sprt: sprt && sprtStatus(counts, sprt),
    gamesNeeded: sprt ? gamesUntilDecided(counts, sprt) : gamesUntilSignificant(counts),
  };
}
