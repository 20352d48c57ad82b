import { type TeamPlay, teamByPlayer, teamsOfMatch } from "#shared/formats/teams.ts";
import { type Rating, rateByBradleyTerry } from "#shared/statistics/bradley-terry.ts";
import { type Counts, countPairs, countsOfGames } from "#shared/statistics/counts.ts";
import { gamesUntilSignificant, type Strength, strengthOf } from "#shared/statistics/elo.ts";
import { gamesUntilDecided, type SprtOptions, type SprtStatus, sprtStatus } from "#shared/statistics/sprt.ts";
import { teamPlayOf } from "../../league-manager/league/format-view.ts";
import type { League, Match, Round } from "../../league-manager/league/league.ts";
import { CANCELLED } from "../../league-manager/league/outcome.ts";

/** A player of a match. In a game of teams it is a team, whose members play with the same bot. */
interface MatchPlayer {
  /** The id of the player, or of the team. */
  readonly playerId: string;
  readonly name: string;
  /** The bot as the command line names it. */
  readonly bot: string;
}

/** The state of the games of `league match`. */
export interface MatchState {
  readonly players: readonly MatchPlayer[];
  /** In the order of the players; each two players once. */
  readonly comparisons: readonly Comparison[];
  /** The number of games that are played, and the number that are to be played at most. */
  readonly games: { readonly completed: number; readonly total: number };
  /** The sequential test; null without one. */
  readonly test: SprtOptions | null;
}

/** What a state depends on besides the league. */
export interface MatchTerms {
  readonly players: readonly MatchPlayer[];
  readonly test: SprtOptions | null;
  /** Whether the games of a pair share an opening. */
  readonly hasOpenings: boolean;
  /** The number of games to be played at most. */
  readonly total: number;
}

/** Computes the state from all games of a league. */
export function matchState(league: Pick<League, "game" | "roles" | "teams" | "rounds">, terms: MatchTerms): MatchState {
  const { players, test, hasOpenings, total } = terms;
  const play = teamPlayOf(league);
  const rounds = play ? gamesOfTeams([...league.rounds], play) : [...league.rounds];
  const scores = scoresOf(
    rounds,
    players.map(({ playerId }) => playerId),
  );
  const comparisons = scores.map((score) => comparisonOf(score, hasOpenings || test !== null, test));
  const completed = rounds.flatMap(({ matches }) => matches.filter(isPlayed)).length;
  return { players, comparisons, games: { completed, total }, test };
}

/** The ratings of the players, the best first. */
export function ratingsOf({ players, comparisons }: MatchState): readonly Rating[] {
  const results = comparisons.map(({ players: [first, second], wins, draws, losses }) => ({
    first,
    second,
    wins,
    draws,
    losses,
  }));
  const ids = players.map(({ playerId }) => playerId);
  return rateByBradleyTerry(ids, results).ratings.toSorted((a, b) => b.rating - a.rating);
}

/** Returns the function that names players. */
export const namesIn = ({ players }: Pick<MatchState, "players">): ((playerId: string) => string) => {
  const names = new Map(players.map(({ playerId, name }) => [playerId, name]));
  return (playerId) => names.get(playerId) ?? playerId;
};

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
  wins: 0,
  draws: 0,
  losses: 0,
  bothForfeited: 0,
  aborted: 0,
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
const isPlayed = ({ outcome }: Match): boolean => outcome !== null && outcome.reason !== CANCELLED;

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

/** Returns the rounds of a league of teams as rounds of games between the teams: the players, points and faults of a game are those of the teams. */
export function gamesOfTeams(rounds: readonly Round[], play: TeamPlay): readonly Round[] {
  const teamOf = teamByPlayer(play.teams);
  return rounds.map((round) => ({ ...round, matches: round.matches.map((match) => gameOfTeams(match, play, teamOf)) }));
}

function gameOfTeams(match: Match, play: TeamPlay, teamOf: ReadonlyMap<string, string>): Match {
  const { outcome } = match;
  return {
    ...match,
    players: teamsOfMatch(match, play, teamOf),
    outcome: outcome && {
      ...outcome,
      points: outcome.points.length === 0 ? [] : play.sides.map(([role = 0]) => outcome.points[role] as number),
      faults: outcome.faults.map((fault) => ({ ...fault, player_id: teamOf.get(fault.player_id) ?? fault.player_id })),
    },
  };
}
