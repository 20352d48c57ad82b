import type { Tables } from "./round-robin.ts";

/**
 * The schedule of n players for a game of k > 2 roles: n rounds of floor(n / k) matches.
 *
 * The players stand on a circle of n places. Each place is a role of a match or a bye, and the circle turns by one place every round. So over
 * the n rounds every player is once in each place: each has every role exactly floor(n / k) times and the same number of byes, n mod k.
 *
 * Two players meet in a round if their distance on the circle is that of two places of one match. `placesOf` therefore spreads the places of
 * the matches so that all distances occur about equally often: then all players meet about equally often. Of up to 24
 * players any two meet at least once and at most k + 1 times.
 */
export function rotation(playerIds: readonly string[], roleCount: number): readonly Tables[] {
  const count = playerIds.length;
  const { matches, byes } = placesOf(count, roleCount);
  return playerIds.map((_, turn) => {
    const playerAt = (place: number): string => playerIds[(place + turn) % count] as string;
    return { tables: matches.map((places) => places.map(playerAt)), byes: byes.map(playerAt) };
  });
}

interface Places {
  /** The places of each match on the circle, in the order of the roles. */
  readonly matches: readonly (readonly number[])[];
  readonly byes: readonly number[];
}

/** Each place in turn is the free one whose distances to the other places of its match have been used least. */
function placesOf(count: number, roleCount: number): Places {
  const free = new Set(Array.from({ length: count }, (_, place) => place));
  const distance = (a: number, b: number): number => Math.min(Math.abs(a - b), count - Math.abs(a - b));
  /** How often two players of each distance meet. Opposite places are the same pair of players after half a turn, so they meet twice. */
  const meetings = new Array<number>(Math.floor(count / 2) + 1).fill(0);
  const perUse = (apart: number): number => (2 * apart === count ? 2 : 1);
  const meetingsWith = (place: number, others: readonly number[]): number =>
    others.reduce(
      (sum, other) => sum + perUse(distance(place, other)) * (meetings[distance(place, other)] as number),
      0,
    );
  const takePlace = (others: readonly number[]): number => {
    const best = [...free].reduce((least, place) =>
      meetingsWith(place, others) < meetingsWith(least, others) ? place : least,
    );
    for (const other of others) {
      const apart = distance(best, other);
      meetings[apart] = (meetings[apart] as number) + perUse(apart);
    }
    free.delete(best);
    return best;
  };
  const matches = Array.from({ length: Math.floor(count / roleCount) }, () => {
    const places: number[] = [];
    while (places.length < roleCount) places.push(takePlace(places));
    return places;
  });
  return { matches, byes: [...free] };
}
