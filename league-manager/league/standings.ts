import { compareIds } from "#shared/lib/ids.ts";
import { invariant } from "#shared/lib/result.ts";
import { POINTS } from "#shared/session/verdict.ts";
import type { League, Match } from "./league.ts";

export interface Standing {
  /** The position from 1. Ranks are distinct, because the player id breaks every tie. */
  readonly rank: number;
  readonly player_id: string;
  readonly display_name: string;
  readonly played: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  readonly points: number;
}

export interface StandingsPlayer {
  readonly player_id: string;
  readonly display_name: string;
}

/** The fields of a recorded match that the standings need. */
export interface StandingsResult {
  /** Match points by player id: 3, 1 or 0. */
  readonly points: Readonly<Record<string, number>>;
  readonly termination: "normal" | "forfeit" | "aborted";
}

/** Counts the results of a league. */
export interface Tally {
  /** Counts a result. The caller ensures that each result is added once. */
  add(result: StandingsResult): void;
  /** Counts a match. A match that is not completed or is aborted has no points and is not counted. */
  addMatch(match: Pick<Match, "players" | "outcome">): void;
  /** Returns the standings with one row for each of these players. Players of a result that are not listed have no row. */
  standings(players: readonly StandingsPlayer[]): readonly Standing[];
}

/**
 * Creates a tally without results. A win is 3 points, a draw 1, a loss 0. Standings are sorted by points, wins and draws, all descending, then by
 * player id, ascending. A match that both players forfeit is a loss for both. An aborted match is not counted.
 */
export function createTally(): Tally {
  const counts = new Map<string, { wins: number; draws: number; losses: number }>();
  const addPoints = (playerId: string, points: number): void => {
    const count = counts.get(playerId) ?? { wins: 0, draws: 0, losses: 0 };
    count[columnOf(points)] += 1;
    counts.set(playerId, count);
  };
  return {
    add({ termination, points }) {
      if (termination === "aborted") return;
      for (const [playerId, value] of Object.entries(points)) addPoints(playerId, value);
    },
    addMatch({ players, outcome }) {
      for (const [seat, points] of (outcome?.points ?? []).entries()) addPoints(players[seat] as string, points);
    },
    standings: (players) =>
      players
        .map(({ player_id, display_name }) => {
          const { wins, draws, losses } = counts.get(player_id) ?? { wins: 0, draws: 0, losses: 0 };
          const points = wins * POINTS.win + draws * POINTS.draw + losses * POINTS.loss;
          return { player_id, display_name, played: wins + draws + losses, wins, draws, losses, points };
        })
        .sort(byRule)
        .map((row, index) => ({ rank: index + 1, ...row })),
  };
}

/** Creates a tally of all results of a league. */
export function tallyOf(league: Pick<League, "rounds">): Tally {
  const tally = createTally();
  for (const { matches } of league.rounds) for (const match of matches) tally.addMatch(match);
  return tally;
}

/** The standings after these results. */
export function foldStandings(
  players: readonly StandingsPlayer[],
  results: readonly StandingsResult[],
): readonly Standing[] {
  const tally = createTally();
  for (const result of results) tally.add(result);
  return tally.standings(players);
}

function columnOf(points: number): "wins" | "draws" | "losses" {
  if (points === POINTS.win) return "wins";
  if (points === POINTS.draw) return "draws";
  invariant(points === POINTS.loss, `a match gives 3, 1 or 0 points, not ${points}`);
  return "losses";
}

const byRule = (a: Omit<Standing, "rank">, b: Omit<Standing, "rank">): number =>
  b.points - a.points || b.wins - a.wins || b.draws - a.draws || compareIds(a.player_id, b.player_id);
