import type { LeagueHeader, PlayerRef } from "../documents/league.ts";

type League = Pick<LeagueHeader, "league_id">;

/** Returns the path of a page of a league: `leaguePath(league, "standings")`. */
export const leaguePath = ({ league_id }: League, page = ""): string =>
  `/leagues/${encodeURIComponent(league_id)}${page === "" ? "" : `/${page}`}`;

export const playerPath = (league: League, { player_id }: Pick<PlayerRef, "player_id">): string =>
  leaguePath(league, `players/${encodeURIComponent(player_id)}`);

export const matchPath = (league: League, matchId: string): string =>
  leaguePath(league, `matches/${encodeURIComponent(matchId)}`);
