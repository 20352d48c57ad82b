import { findGame } from "#shared/games/registry.ts";
import {
  ROUND_ROBIN_RULES,
  type Standing,
  type StandingsPlayer,
  type StandingsRules,
  type Tally,
  tallyOf,
} from "#shared/standings/standings.ts";
import type { League, Round } from "./league.ts";

/** The rules by which a league ranks its players. */
export function standingsRules({ game, roles }: Pick<League, "game" | "roles">): StandingsRules {
  const teams = findGame(game)?.info.teams;
  return teams === undefined
    ? ROUND_ROBIN_RULES
    : { ...ROUND_ROBIN_RULES, teams: roles.map((role) => teams.findIndex((team) => team.roles.includes(role))) };
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
): readonly Standing[] => tally.standings(players, { rules: standingsRules(league), rounds });

/** The standings of a league, computed from all of its results. */
export const standingsOf = (league: League, players: readonly StandingsPlayer[]): readonly Standing[] =>
  rankedStandings(league, players, tallyOf(openedRounds(league)));
