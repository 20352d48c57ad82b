/** The tie-breaks that measure the strength of the opponents: FIDE Handbook C.07 (2023), articles 8, 9 and 16. */

import type { History, HistoryEntry, PlayerHistory } from "./history.ts";

/** The sum of the points of all opponents. */
export const buchholz = (player: PlayerHistory, history: History): number => sum(contributions(player, history));

/** Buchholz without the lowest contribution. Rounds that the player did not play although it could have are left out first (article 16.5). */
export const buchholzCut1 = (player: PlayerHistory, history: History): number =>
  sum(withoutLeast(contributions(player, history)));

/** Buchholz without the lowest and the highest contribution. */
export function medianBuchholz(player: PlayerHistory, history: History): number {
  const rest = withoutLeast(contributions(player, history));
  return rest.length === 0 ? 0 : sum(rest) - Math.max(...rest.map(({ points }) => points));
}

/** The sum of the points of the opponents, each multiplied by the result: 1 for a win, a half for a draw. */
export const sonnebornBerger = (player: PlayerHistory, history: History): number =>
  contributions(player, history).reduce((total, { points, entry }) => total + points * entry.share, 0);

interface Contribution {
  readonly points: number;
  readonly entry: HistoryEntry;
}

const sum = (list: readonly Contribution[]): number => list.reduce((total, { points }) => total + points, 0);

const withoutLeast = (list: readonly Contribution[]): readonly Contribution[] =>
  list
    .toSorted((a, b) => Number(a.entry.isVoluntary) - Number(b.entry.isVoluntary) || b.points - a.points)
    .slice(0, -1);

/**
 * The points of each opponent. A round that the player did not play counts as a match against an opponent that ends with the points of the player
 * (article 16.4). Without adjustment (article 15, round robins) a bye counts nothing, and a forfeited match counts like a played one.
 */
function contributions(player: PlayerHistory, { players, isAdjusted }: History): readonly Contribution[] {
  return player.entries.flatMap((entry): readonly Contribution[] => {
    if (isAdjusted && !entry.isPlayed) return [{ points: player.points, entry }];
    return entry.opponents.map((id) => ({ points: players.get(id)?.adjustedPoints ?? 0, entry }));
  });
}
