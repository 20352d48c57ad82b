/**
 * Returns what followed the longest earlier sequence that equals the end of `history`: the item of `values` at the index after it. The most recent of
 * equally long sequences counts. Null if not even the last item has occurred before. Both lists have the same length.
 */
export function afterLongestRepetition<T>(history: readonly string[], values: readonly T[]): T | null {
  let best: T | null = null;
  let longest = 0;
  for (let next = history.length - 1; next > longest; next--) {
    let length = 0;
    while (length < next && history[next - 1 - length] === history[history.length - 1 - length]) length++;
    if (length > longest) [longest, best] = [length, values[next] as T];
  }
  return best;
}
