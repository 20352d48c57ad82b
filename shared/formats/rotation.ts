import type { NewRound } from "./format.ts";

/**
 * The schedule of n players for a game of k > 2 roles: n rounds of floor(n / k) matches.
 *
 * The players are assigned to n positions in a circle. Each position is a role of a match or a bye. Every round the players move by one position, so
 * after n rounds every player has been in each position once: it has had every role floor(n / k) times and n mod k byes.
 *
 * Two players meet in a round if their distance on the circle is that of two positions of one match. `positionsOf` therefore distributes the
 * positions of the matches so that all distances occur about equally often, and all players meet about equally often. With up to 24 players any two
 * meet at least once and at most k + 1 times.
 */
export function rotation(playerIds: readonly string[], roleCount: number): readonly NewRound[] {
  const count = playerIds.length;
  const { matches, byes } = positionsOf(count, roleCount);
  return playerIds.map((_, turn) => {
    const playerAt = (position: number): string => playerIds[(position + turn) % count] as string;
    return { pairings: matches.map((positions) => positions.map(playerAt)), byes: byes.map(playerAt) };
  });
}

interface Positions {
  /** The positions of each match on the circle, in the order of the roles. */
  readonly matches: readonly (readonly number[])[];
  readonly byes: readonly number[];
}

/** Distributes the positions greedily: each next position is the free one whose distances to the other positions of its match are used least. */
function positionsOf(count: number, roleCount: number): Positions {
  const free = new Set(Array.from({ length: count }, (_, position) => position));
  const distance = (a: number, b: number): number => Math.min(Math.abs(a - b), count - Math.abs(a - b));
  /** The number of meetings of two players by their distance. Players at opposite positions meet twice, because half a turn swaps them. */
  const meetings = new Array<number>(Math.floor(count / 2) + 1).fill(0);
  const perUse = (apart: number): number => (2 * apart === count ? 2 : 1);
  const meetingsWith = (position: number, others: readonly number[]): number =>
    others.reduce(
      (sum, other) => sum + perUse(distance(position, other)) * (meetings[distance(position, other)] as number),
      0,
    );
  const takePosition = (others: readonly number[]): number => {
    const best = [...free].reduce((least, position) =>
      meetingsWith(position, others) < meetingsWith(least, others) ? position : least,
    );
    for (const other of others) {
      const apart = distance(best, other);
      meetings[apart] = (meetings[apart] as number) + perUse(apart);
    }
    free.delete(best);
    return best;
  };
  const matches = Array.from({ length: Math.floor(count / roleCount) }, () => {
    const positions: number[] = [];
    while (positions.length < roleCount) positions.push(takePosition(positions));
    return positions;
  });
  return { matches, byes: [...free] };
}
