import { canPair, opensAtOnce } from "../league/format-view.ts";
import type { League } from "../league/league.ts";
import { roundToOpen } from "../league/open-work.ts";
import type { Decide, FollowUps } from "../ledger.ts";
import { pairLeague } from "./leagues.ts";
import { openRound } from "./rounds.ts";

/** The rounds of more players are paired by a separate command, because their pairing can take longer than a batch may. */
const MAX_PLAYERS_PAIRED_AT_ONCE = 400;

/**
 * Returns the follow-ups of leagues: after the last result of a round the next round is paired, and a round is opened when all earlier ones are completed.
 * A round and the result before it are therefore one commit. `leagueSeedOf` returns the seed of a league.
 */
export const leagueFollowUps =
  (leagueSeedOf: (leagueId: string) => string): FollowUps =>
  (before, state) => {
    if (state.leagues === before.leagues) return [];
    return [...state.leagues.values()].flatMap((league) => {
      const was = before.leagues.get(league.leagueId);
      return was === league ? [] : (followUpOf(league, was, leagueSeedOf) ?? []);
    });
  };

function followUpOf(
  league: League,
  was: League | undefined,
  leagueSeedOf: (leagueId: string) => string,
): Decide<unknown> | null {
  const { leagueId } = league;
  const roundId = roundToOpen(league);
  if (roundId !== null) return openRound(leagueId, roundId);
  if (!canPair(league) || opensAtOnce(league) || isAsked(was, league)) return null;
  if (league.entrants.size > MAX_PLAYERS_PAIRED_AT_ONCE) return null;
  return pairLeague(leagueId, leagueSeedOf(leagueId), 0);
}

/** Whether the format was asked before for the next rounds, with the same results and players. */
const isAsked = (was: League | undefined, { completedCount, entrants, departed }: League): boolean =>
  was !== undefined &&
  canPair(was) &&
  was.completedCount === completedCount &&
  was.entrants === entrants &&
  was.departed === departed;
