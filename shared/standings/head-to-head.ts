import type { History } from "./history.ts";

/**
 * The points of the matches among the tied players: FIDE Handbook C.07 (2023), article 6. If some of them have not met, a player is placed first only if
 * no result of the missing matches could change that; then the same is applied to the others. The value of a player that cannot be placed is null.
 */
export function headToHead(tied: readonly string[], history: History): readonly (number | null)[] {
  const placed = new Map<string, number>();
  let open = tied;
  while (open.length > 1) {
    const scores = scoresAmong(open, history);
    if (scores.every(({ missing }) => missing === 0)) {
      for (const { playerId, points } of scores) placed.set(playerId, points);
      break;
    }
    const first = scores.find(({ playerId, points }) =>
      scores.every((other) => other.playerId === playerId || other.points + other.missing * history.scale.win < points),
    );
    if (!first) break;
    placed.set(first.playerId, first.points);
    open = open.filter((playerId) => playerId !== first.playerId);
  }
  return tied.map((playerId) => placed.get(playerId) ?? null);
}

interface Score {
  readonly playerId: string;
  /** The points of the matches against the other tied players. */
  readonly points: number;
  /** The number of tied players that the player has not met. */
  readonly missing: number;
}

function scoresAmong(tied: readonly string[], { players }: History): readonly Score[] {
  const isTied = new Set(tied);
  return tied.map((playerId) => {
    const met = new Set<string>();
    let points = 0;
    for (const entry of players.get(playerId)?.entries ?? []) {
      if (!entry.isPlayed) continue;
      const others = entry.opponents.filter((opponent) => isTied.has(opponent));
      if (others.length > 0) points += entry.points;
      for (const other of others) met.add(other);
    }
    return { playerId, points, missing: tied.length - 1 - met.size };
  });
}
