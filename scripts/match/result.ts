import { type Rating, rateByBradleyTerry } from "#shared/statistics/bradley-terry.ts";
import type { SprtOptions } from "#shared/statistics/sprt.ts";
import { teamPlayOf } from "../../league-manager/league/format-view.ts";
import type { League } from "../../league-manager/league/league.ts";
import { type Comparison, comparisonOf, isPlayed, scoresOf } from "./score.ts";
import { gamesOfTeams } from "./team-games.ts";

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
    ...{ first, second, wins, draws, losses },
  }));
  const ids = players.map(({ playerId }) => playerId);
  return rateByBradleyTerry(ids, results).ratings.toSorted((a, b) => b.rating - a.rating);
}

/** Returns the function that names players. */
export const namesIn = ({ players }: Pick<MatchState, "players">): ((playerId: string) => string) => {
  const names = new Map(players.map(({ playerId, name }) => [playerId, name]));
  return (playerId) => names.get(playerId) ?? playerId;
};
