/**
 * Ratings of the members of teams, and of players of games with more than two sides, by openskill: the Plackett-Luce model of R. C. Weng and C.-J. Lin,
 * "A Bayesian approximation method for online ranking" (JMLR 12, 2011). Each match updates the ratings of its players, so that their order matters.
 *
 * The ratings have the average and the spread of the Bradley-Terry ratings, but they are not Elo points.
 */

import { rate, rating } from "openskill";
import { invariant } from "#shared/lib/result.ts";
import { AVERAGE_RATING, type Comparison, type Rating, type Ratings } from "./bradley-terry.ts";
import { normalCdf, Z_95 } from "./normal.ts";

/** A match between two or more teams. */
export interface TeamResult {
  /** The players of each team. */
  readonly teams: readonly (readonly string[])[];
  /** The points of each team. Equal points are a draw of these teams. */
  readonly points: readonly number[];
}

/** The initial rating of each player. `tau` is 0, because the strength of a bot does not change with time. */
const SCALE = { mu: AVERAGE_RATING, sigma: AVERAGE_RATING / 3, tau: 0 };

/** Rates players by the results of their teams, in the order of the results. Players without matches keep the initial rating. */
export function rateTeams(players: readonly string[], results: readonly TeamResult[]): Ratings {
  const current = new Map(players.map((player) => [player, { ...rating(SCALE), games: 0, points: 0 }]));
  const of = (player: string) => {
    const found = current.get(player);
    invariant(found !== undefined, `the results name only rated players, not ${player}`);
    return found;
  };
  for (const { teams, points } of results) {
    const best = Math.max(...points);
    const winners = points.filter((one) => one === best).length;
    // openskill reads the rank 0 as an absent rank, so the ranks begin at 1.
    const rank = points.map((own) => 1 + points.filter((other) => other > own).length);
    const rated = rate(
      teams.map((team) => team.map((player) => ({ mu: of(player).mu, sigma: of(player).sigma }))),
      { ...SCALE, rank },
    );
    for (const [t, team] of teams.entries()) {
      const gained = points[t] === best ? 1 / winners : 0;
      for (const [p, player] of team.entries()) {
        const before = of(player);
        const next = { ...before, ...rated[t]?.[p], games: before.games + 1, points: before.points + gained };
        current.set(player, next);
      }
    }
  }
  return {
    ratings: players.map((player): Rating => {
      const { mu, sigma, games, points } = of(player);
      return { player, rating: mu, error: Z_95 * sigma, games, points };
    }),
    compare(first, second): Comparison {
      const [a, b] = [of(first), of(second)];
      const deviation = Math.hypot(a.sigma, b.sigma);
      const difference = a.mu - b.mu;
      return {
        difference,
        error: Z_95 * deviation,
        superiority: normalCdf(difference / deviation),
        isSignificant: Math.abs(difference) > Z_95 * deviation,
      };
    },
  };
}
