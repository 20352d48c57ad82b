import { findGame } from "#shared/games/registry.ts";
import { type Crosstable, crosstable } from "#shared/standings/crosstable.ts";
import { type RatingTable, ratingTableWith } from "#shared/statistics/rating-table.ts";
import { rateTeams } from "#shared/statistics/team-ratings.ts";
import type { ExportedMatch } from "../format.ts";
import type { ReportLeague } from "./report-run.ts";

/** The results of a league: who has won against whom, and the ratings that follow. */
export interface Results {
  readonly crosstable: Crosstable;
  readonly ratings: RatingTable;
}

/** Computes the results of a league in one pass over its matches. */
export async function resultsOf({ game, roles, standings, matches }: ReportLeague): Promise<Results> {
  const results: ReturnType<typeof outcomeOf>[] = [];
  for await (const match of matches()) results.push(outcomeOf(match));
  const teams = findGame(game)?.info.teams;
  const seatsOfTeams = teams?.map((team) => team.roles.map((role) => roles.indexOf(role)));
  const teamOfSeat = teams && roles.map((role) => teams.findIndex((team) => team.roles.includes(role)));
  const rows = standings.map(({ player_id, display_name, rank, points }) => ({
    player_id: String(player_id),
    display_name: String(display_name),
    rank: Number(rank),
    points: Number(points),
  }));
  const players = rows.map(({ player_id }) => player_id);
  return {
    crosstable: crosstable(rows, [{ roundId: 0, matches: results, byes: [] }], teamOfSeat),
    ratings: ratingTableWith(
      rateTeams,
      players,
      results.map(({ players, outcome }) => ({ players, points: outcome.points })),
      seatsOfTeams,
    ),
  };
}

/** The parts of a match that its result needs. */
function outcomeOf({ match_id: matchId, roles, match_points, termination, log_head: logHead }: ExportedMatch) {
  const players = Object.values(roles);
  const points = termination === "aborted" ? [] : players.map((id) => match_points[id] ?? 0);
  return { matchId, players, outcome: { points, termination }, logHead };
}
