/** The tie-breaks that measure the strength of the opponents: FIDE Handbook C.07 (2023), articles 8, 9 and 16. */

import type { History, HistoryEntry, PlayerHistory } from "./history.ts";

/** The sum of the points of all opponents. */
export function buchholz(player: PlayerHistory, history: History): number {
  return total(player, history, () => 1);
}

/** Buchholz without the lowest contribution. Rounds that the player did not play although it could have are left out first (article 16.5). */
export function buchholzCut1(player: PlayerHistory, history: History): number {
  return sum(withoutLeast(contributions(player, history)));
}

/** Buchholz without the lowest and the highest contribution. */
export function medianBuchholz(player: PlayerHistory, history: History): number {
  const rest = withoutLeast(contributions(player, history));
  return rest.length === 0 ? 0 : sum(rest) - Math.max(...rest.map(({ points }) => points));
}

/** The sum of the points of the opponents, each multiplied by the result: 1 for a win, a half for a draw. */
export function sonnebornBerger(player: PlayerHistory, history: History): number {
  return total(player, history, ({ share }) => share);
}

interface Contribution {
  readonly points: number;
  readonly entry: HistoryEntry;
}

const sum = (list: readonly Contribution[]): number => list.reduce((total, { points }) => total + points, 0);

const withoutLeast = (list: readonly Contribution[]): readonly Contribution[] =>
  list
    .toSorted((a, b) => Number(a.entry.isVoluntary) - Number(b.entry.isVoluntary) || b.points - a.points)
    .slice(0, -1);

/** The sum of all contributions, each multiplied by a weight. A large league computes it for every player after each result, so it creates no list. */
function total(player: PlayerHistory, history: History, weightOf: (entry: HistoryEntry) => number): number {
  let result = 0;
  for (const entry of player.entries) {
    const weight = weightOf(entry);
    if (isReplaced(entry, history)) result += weight * player.points;
    else for (const id of entry.opponents) result += weight * pointsOf(id, history);
  }
  return result;
}

/** The points of each opponent, with its match. */
const contributions = (player: PlayerHistory, history: History): readonly Contribution[] =>
  player.entries.flatMap((entry): readonly Contribution[] =>
    isReplaced(entry, history)
      ? [{ points: player.points, entry }]
      : entry.opponents.map((id) => ({ points: pointsOf(id, history), entry })),
  );

/**
 * Returns true if a round that the player did not play counts as a match against an opponent that ends with the points of the player (article 16.4).
 * Without adjustment, in a round robin, a bye counts nothing, and a forfeited match counts like a played one.
 */
const isReplaced = ({ isPlayed }: HistoryEntry, { isAdjusted }: History): boolean => isAdjusted && !isPlayed;

const pointsOf = (playerId: string, { players }: History): number => players.get(playerId)?.adjustedPoints ?? 0;
