import { SharedList } from "#shared/lib/list.ts";
import type { StandingsPlayer } from "#shared/standings/standings.ts";
import { tallyOf } from "#shared/standings/standings.ts";
import { opensAtOnce } from "../league/format-view.ts";
import { type League, roundOf } from "../league/league.ts";
import { rankedStandings, teamStandingsOf } from "../league/standings-of.ts";

type Ranks = ReadonlyMap<string, number>;

/**
 * Returns a function that gives the ranks before the round of the last result, by player id and by the id of the team; null without such a round. The
 * ranks are computed once for each round, because they depend on all earlier matches.
 */
export function earlierRanksCache(playersOf: (league: League) => readonly StandingsPlayer[]) {
  const cache = new Map<string, { readonly key: string; readonly ranks: Ranks | null }>();
  return (league: League): Ranks | null => {
    const { leagueId, annulledCount, entrants, seedCommitment } = league;
    const round = roundOfLastResult(league);
    const key = [seedCommitment, round, annulledCount, entrants.size].join("/");
    const cached = cache.get(leagueId);
    if (cached?.key === key) return cached.ranks;
    const ranks = round === null || round < 2 ? null : ranksAfter(league, round - 1, playersOf(league));
    cache.set(leagueId, { key, ranks });
    return ranks;
  };
}

/** Returns the round of the last result; null without a result, and for formats whose rounds are played at the same time. */
function roundOfLastResult(league: League): number | null {
  if (league.status === "open" || opensAtOnce(league)) return null;
  const current = league.currentRound ?? league.rounds.length;
  const round = roundOf(league, current);
  if (!round) return null;
  return round.open < round.matches.length ? current : current - 1;
}

function ranksAfter(league: League, count: number, players: readonly StandingsPlayer[]): Ranks {
  const rounds = league.rounds.slice(0, count);
  const rows = rankedStandings(league, players, tallyOf(rounds), () => rounds);
  const teams = teamStandingsOf({ ...league, rounds: SharedList.of(rounds) }, (playerId) => playerId) ?? [];
  return new Map([...rows, ...teams].map(({ player_id, rank }) => [player_id, rank]));
}
