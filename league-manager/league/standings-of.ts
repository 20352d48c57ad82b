import { findFormat } from "#shared/formats/registry.ts";
import { teamIdOf, teamName } from "#shared/formats/teams.ts";
import { findGame } from "#shared/games/registry.ts";
import type { List } from "#shared/lib/list.ts";
import {
  ROUND_ROBIN_RULES,
  type Standing,
  type StandingsPlayer,
  type StandingsRules,
  type Tally,
  tallyOf,
} from "#shared/standings/standings.ts";
import { DEFAULT_TIE_BREAKS, isTieBreakId, needsHistory } from "#shared/standings/tie-breaks.ts";
import { competitorRanking, opensAtOnce, rankingOf, teamPlayOf, viewOf } from "./format-view.ts";
import type { League, Round } from "./league.ts";

/** The rules by which a league ranks its players: those of its format, with the tie-breaks of its config. */
export function standingsRules({
  game,
  roles,
  format: id,
  tieBreaks,
}: Pick<League, "game" | "roles" | "format" | "tieBreaks">): StandingsRules {
  const teams = findGame(game)?.info.teams;
  const format = findFormat(id);
  return {
    tieBreaks: (tieBreaks ?? format?.tieBreaks ?? ROUND_ROBIN_RULES.tieBreaks).filter(isTieBreakId),
    byePoints: format?.byePoints ?? ROUND_ROBIN_RULES.byePoints,
    ...(teams && { teams: roles.map((role) => teams.findIndex((team) => team.roles.includes(role))) }),
  };
}

/** The rounds whose matches and byes count: those that are opened. */
export const openedRounds = (league: Pick<League, "format" | "rounds">): List<Round> =>
  opensAtOnce(league) ? league.rounds : league.rounds.filter(({ isOpened }) => isOpened);

/** The standings of a league. `tally` has counted its opened rounds, or those of `rounds`. */
export const rankedStandings = (
  league: League,
  players: readonly StandingsPlayer[],
  tally: Tally,
  rounds: () => List<Round> = () => openedRounds(league),
): readonly Standing[] =>
  tally.standings(players, {
    rules: standingsRules(league),
    rounds,
    ranking: rankingOf(league, rounds),
  });

/** The number of matches from which only points, wins and draws are compared after each result. */
const LARGE_LEAGUE = 2_000;

/**
 * Whether the tie-breaks of a league are left out of the live events of its results. They depend on all results, so that a large league would compute
 * them from thousands of matches after each match.
 */
export const omitsLiveTieBreaks = (league: League): boolean =>
  league.matchCount >= LARGE_LEAGUE && needsHistory(standingsRules(league).tieBreaks);

/** The standings by points, wins and draws. */
export const plainStandings = (
  league: League,
  players: readonly StandingsPlayer[],
  tally: Tally,
): readonly Standing[] =>
  tally.standings(players, { rules: { ...standingsRules(league), tieBreaks: DEFAULT_TIE_BREAKS } });

/** The standings of a league, computed from all of its results. */
export const standingsOf = (league: League, players: readonly StandingsPlayer[]): readonly Standing[] =>
  rankedStandings(league, players, tallyOf(openedRounds(league)));

/** A row of the standings of teams: `player_id` is the id of the team, `display_name` the names of its members. */
export interface TeamStanding extends Standing {
  /** The ids of the members. */
  readonly members: readonly string[];
}

/** The standings of the teams of a league; null if each player plays for itself. */
export function teamStandingsOf(league: League, nameOf: (playerId: string) => string): readonly TeamStanding[] | null {
  const play = teamPlayOf(league);
  if (!play) return null;
  const opened = openedRounds(league);
  const rounds = viewOf({ ...league, rounds: opened }, "").rounds.map((round, index) => ({
    ...round,
    matches: round.matches.map((match, seat) => ({
      ...match,
      logHead: (opened.at(index) as Round).matches[seat]?.logHead as string | null,
    })),
  }));
  const teams = new Map(play.teams.map((members, index) => [teamIdOf(index), members]));
  const rows = [...teams].map(([player_id, members]) => ({ player_id, display_name: teamName(members, nameOf) }));
  const { teams: _, ...rules } = standingsRules(league);
  const standings = tallyOf(rounds).standings(rows, {
    rules,
    rounds: () => rounds,
    ranking: competitorRanking(league),
  });
  return standings.map((row) => ({ ...row, members: teams.get(row.player_id) ?? [] }));
}
