import blossom from "edmonds-blossom-fixed";

/**
 * Divides the numbers from 0 to `size` - 1 into pairs whose costs have the least sum. `costOf` returns an integer, or null for a pair that is not
 * allowed. Returns null if no division has only allowed pairs. The time grows with the third power of `size`.
 */
export function cheapestPairs(
  size: number,
  costOf: (a: number, b: number) => number | null,
): readonly (readonly [number, number])[] | null {
  if (size % 2 === 1) return null;
  const edges: (readonly [number, number, number])[] = [];
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) {
      const cost = costOf(a, b);
      if (cost !== null) edges.push([a, b, -cost]);
    }
  }
  if (edges.length === 0) return size === 0 ? [] : null;
  const partners = blossom(edges, true);
  const pairs: (readonly [number, number])[] = [];
  for (let a = 0; a < size; a++) {
    const partner = partners[a] ?? -1;
    if (partner === -1) return null;
    if (a < partner) pairs.push([a, partner]);
  }
  return pairs;
}
