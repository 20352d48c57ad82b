import type { LeagueConfig } from "#shared/runtime/config/leagues.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** The maximum number of leagues of a config. */
const MAX_LEAGUES = 100;
const GAME = { game: "rps.v1", options: { best_of: 3 } };

/** A league of a run, which the first `size` players enter. */
export type PlannedLeague = Partial<LeagueConfig> & {
  readonly league_id: string;
  readonly game: string;
  readonly min_players: number;
  readonly max_players: number;
};

const pairsOf = (players: number): number => (players * (players - 1)) / 2;

/**
 * Returns leagues with `matches` matches in sum: a round robin of as many of the players as possible, then a Swiss system with the remaining number of
 * matches if there is one, otherwise further round robins. Throws StartError if too many leagues would be needed.
 */
export function planLeagues(matches: number, players: number): readonly PlannedLeague[] {
  const leagues: PlannedLeague[] = [];
  for (let left = matches; left > 0; ) {
    const swiss = leagues.length === 0 ? null : swissWith(left, players);
    const size = swiss?.players ?? largestRoundRobin(left, players);
    const id = `${swiss ? "swiss" : "all-play-all"}-${leagues.length + 1}`;
    leagues.push({
      league_id: id,
      ...GAME,
      min_players: size,
      max_players: size,
      ...(swiss ? { format: "swiss", format_options: { rounds: swiss.rounds } } : { format: "round-robin" }),
    });
    left -= swiss ? left : pairsOf(size);
    if (leagues.length > MAX_LEAGUES) {
      const message = `${matches} matches of ${players} players are more than ${MAX_LEAGUES} leagues`;
      throw new StartError(`${message}: give more --players`, EXIT.usage);
    }
  }
  return leagues;
}

function largestRoundRobin(matches: number, players: number): number {
  let size = players;
  while (pairsOf(size) > matches) size--;
  return size;
}

/**
 * Returns the smallest Swiss system with exactly this number of matches; null if there is none. With at most half as many rounds as players, there is
 * always a pairing without a second meeting (theorem of Dirac).
 */
function swissWith(matches: number, players: number): { readonly players: number; readonly rounds: number } | null {
  for (let pairs = 1; pairs * 2 <= players; pairs++) {
    if (matches % pairs === 0 && matches / pairs <= pairs) return { players: pairs * 2, rounds: matches / pairs };
  }
  return null;
}
