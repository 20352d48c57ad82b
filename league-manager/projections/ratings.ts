import { findGame } from "#shared/games/registry.ts";
import { ratingTable } from "#shared/statistics/rating-table.ts";
import type { League } from "../league/league.ts";
import { openedRounds } from "../league/standings-of.ts";

/** The ratings of a league, as `get_ratings`, the resource and `league run --json` show them. */
export interface RatingsDocument {
  /** `bradley-terry`: Elo points relative to the average of the players, which is 1500. `openskill`: ratings of the members of teams. */
  readonly model: "bradley-terry" | "openskill";
  /** The number of rated matches. */
  readonly matches: number;
  /** The strongest player first. */
  readonly players: readonly {
    readonly player_id: string;
    readonly display_name: string;
    readonly rating: number;
    /** Half of the width of the 95% interval. */
    readonly error: number;
    readonly matches: number;
    /** The share of the points in percent, a draw as half a win; null without matches. */
    readonly percent: number | null;
  }[];
  /** Every pair of players, or in a large league each player and the next one of the list. */
  readonly comparisons: readonly {
    /** The player with the higher rating. */
    readonly player_id: string;
    readonly other_id: string;
    readonly difference: number;
    readonly error: number;
    /** The probability that the player is stronger than the other. */
    readonly likelihood: number;
    /** False: the order of the two players is not significant yet, because the 95% interval of the difference contains 0. */
    readonly significant: boolean;
  }[];
}

/** The seats of each team of a game; undefined if each seat is a team. */
export function teamSeats(game: string, roles: readonly string[]): readonly (readonly number[])[] | undefined {
  return findGame(game)?.info.teams?.map((team) => team.roles.map((role) => roles.indexOf(role)));
}

/** Returns the ratings of all players of a league from its completed matches. */
export async function ratingsOf(
  league: Pick<League, "game" | "format" | "roles" | "rounds" | "entrants">,
  nameOf: (playerId: string) => string,
): Promise<RatingsDocument> {
  const matches = openedRounds(league).flatMap((round) =>
    round.matches.flatMap(({ players, outcome }) => (outcome ? [{ players, points: outcome.points }] : [])),
  );
  const table = await ratingTable([...league.entrants.keys()], matches, teamSeats(league.game, league.roles));
  return {
    model: table.model,
    matches: table.matches,
    players: table.rows.map(({ player, ...row }) => ({ player_id: player, display_name: nameOf(player), ...row })),
    comparisons: table.comparisons.map(({ player, other, isSignificant, ...comparison }) => ({
      player_id: player,
      other_id: other,
      ...comparison,
      significant: isSignificant,
    })),
  };
}

/**
 * Returns a function that returns the ratings of a league and keeps them. They are computed again after a match, but in a league of more than 100 players only
 * after several matches, because the time grows with the cube of their number: 0.1 s for 200 players, 2 s for 1,000. `matches` says how many are
 * rated. The ratings of a completed league have all of its matches. A failed computation is repeated at the next call.
 */
export function cachedRatings(nameOf: (playerId: string) => string): (league: League) => Promise<RatingsDocument> {
  const kept = new Map<string, { readonly document: Promise<RatingsDocument>; completed: number; of: string }>();
  return (league) => {
    const { leagueId, entrants, status, completedCount: completed } = league;
    const of = JSON.stringify([status, [...entrants.keys()].map((id) => [id, nameOf(id)])]);
    const found = kept.get(leagueId);
    const maxMissing = Math.max(1, Math.floor(entrants.size ** 2 / 10_000));
    if (found?.of === of && completed - found.completed < maxMissing) return found.document;
    const document = ratingsOf(league, nameOf).catch((thrown) => {
      if (kept.get(leagueId)?.document === document) kept.delete(leagueId);
      throw thrown;
    });
    kept.set(leagueId, { document, completed, of });
    return document;
  };
}
