import { findFormat } from "#shared/formats/registry.ts";
import { findGame } from "#shared/games/registry.ts";
import {
  ROUND_ROBIN_RULES,
  type Standing,
  type StandingsPlayer,
  type StandingsRules,
  type Tally,
  tallyOf,
} from "#shared/standings/standings.ts";
import { isTieBreakId } from "#shared/standings/tie-breaks.ts";
import { parsedOptions, viewOf } from "./format-view.ts";
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

/** The order of a format that does not rank by points. */
function rankingOf(league: League, rounds: () => readonly Round[]): readonly (readonly string[])[] | undefined {
  const format = findFormat(league.format);
  return format?.ranking?.(viewOf({ ...league, rounds: rounds() }, ""), parsedOptions(league));
}

/** The rounds whose matches and byes count: those that are opened. */
export const openedRounds = ({ rounds }: Pick<League, "rounds">): readonly Round[] =>
  rounds.filter(({ isOpened }) => isOpened);

/** The standings of a league. `tally` has counted its opened rounds, or those of `rounds`. */
export const rankedStandings = (
  league: League,
  players: readonly StandingsPlayer[],
  tally: Tally,
  rounds: () => readonly Round[] = () => openedRounds(league),
): readonly Standing[] =>
  tally.standings(players, { rules: standingsRules(league), rounds, ranking: rankingOf(league, rounds) });

/** The standings of a league, computed from all of its results. */
export const standingsOf = (league: League, players: readonly StandingsPlayer[]): readonly Standing[] =>
  rankedStandings(league, players, tallyOf(openedRounds(league)));
