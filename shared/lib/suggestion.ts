/**
 * Returns the known word that is nearest to a text, or null if none is near. At most a third of the text's characters
 * may differ.
 */
export function nearest(text: string, known: readonly string[]): string | null {
  const limit = Math.floor(text.length / 3);
  const near = known
    .map((word) => ({ word, distance: distanceOf(text.toLowerCase(), word.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit);
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.word ?? null;
}

/** Returns `. Did you mean "rps.v1"?`, or an empty string if no known word is near. */
export function didYouMean(text: unknown, known: readonly string[]): string {
  const word = typeof text === "string" && text.length <= MAX_LENGTH ? nearest(text, known) : null;
  return word === null ? "" : `. Did you mean ${JSON.stringify(word)}?`;
}

const MAX_LENGTH = 60;

/**
 * Returns the optimal string alignment distance: the number of insertions, deletions, replacements and swaps of
 * neighbouring characters.
 */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
