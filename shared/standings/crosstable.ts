import { POINTS } from "#shared/session/verdict.ts";
import type { StandingsMatch, StandingsRound } from "./history.ts";

/** The results of every player against every other player. Rows and columns have the order of the standings. */
export interface Crosstable {
  readonly players: readonly CrosstablePlayer[];
  /** `results[i][j]` are the results of player i against player j, in the order of the rounds. */
  readonly results: readonly (readonly (readonly CrosstableResult[])[])[];
}

interface CrosstablePlayer {
  readonly player_id: string;
  readonly display_name: string;
  readonly rank: number;
  readonly points: number;
}

/** The result of one match, from the view of the player of the row. */
export interface CrosstableResult {
  readonly round_id: number;
  readonly match_id: string;
  readonly points: number;
  /** True if the match was decided by a forfeit. */
  readonly is_forfeit: boolean;
}

/**
 * Returns the crosstable of these rounds for the players of the standings. Open and aborted matches have no result. In a game with more than two roles
 * a match has a result for each pair of players of different teams.
 */
export function crosstable(
  standings: readonly CrosstablePlayer[],
  rounds: readonly (Omit<StandingsRound, "matches"> & { readonly matches: readonly MatchWithId[] })[],
  teams?: readonly number[],
): Crosstable {
  const index = new Map(standings.map(({ player_id }, position) => [player_id, position]));
  const results = standings.map(() => standings.map((): CrosstableResult[] => []));
  for (const { roundId, matches } of rounds) {
    for (const { matchId, players, outcome } of matches) {
      for (const [seat, points] of (outcome?.points ?? []).entries()) {
        const row = results[index.get(players[seat] as string) ?? -1];
        for (const [other, opponent] of players.entries()) {
          if (other === seat || (teams && teams[other] === teams[seat])) continue;
          const is_forfeit = outcome?.termination === "forfeit";
          row?.[index.get(opponent) ?? -1]?.push({ round_id: roundId, match_id: matchId, points, is_forfeit });
        }
      }
    }
  }
  const players = standings.map(({ player_id, display_name, rank, points }) => ({
    player_id,
    display_name,
    rank,
    points,
  }));
  return { players, results };
}

type MatchWithId = StandingsMatch & { readonly matchId: string };

/** The results of one cell as text: 1, = and 0, and + or - for a match that was won or lost by forfeit. */
export const cellText = (results: readonly CrosstableResult[]): string =>
  results.map(({ points, is_forfeit }) => resultMark(points, is_forfeit)).join("");

/** The result of a match for one player: 1, = or 0, and + or - if it was decided by a forfeit. */
export const resultMark = (points: number, isForfeit: boolean): string =>
  (isForfeit ? FORFEITS : RESULTS)[points] ?? "?";

const RESULTS: Readonly<Record<number, string>> = { [POINTS.win]: "1", [POINTS.draw]: "=", [POINTS.loss]: "0" };
const FORFEITS: Readonly<Record<number, string>> = { [POINTS.win]: "+", [POINTS.draw]: "=", [POINTS.loss]: "-" };
