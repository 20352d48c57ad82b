/** The memory that the views of a relayed match take. */
interface RelayedViews {
  readonly frames: { readonly characters: number };
  readonly readers: { readonly size: number };
  readonly readAtMs: number;
}

/**
 * Returns the matches whose views are dropped, so that those of all matches have at most `maxCharacters`: first the matches that no reader follows, the one
 * that was read longest ago first, and then the largest ones.
 */
export function matchesToDrop<Match extends RelayedViews>(
  all: Iterable<Match>,
  maxCharacters: number,
): readonly Match[] {
  const matches = [...all].filter(({ frames }) => frames.characters > 0);
  let characters = matches.reduce((sum, { frames }) => sum + frames.characters, 0);
  if (characters <= maxCharacters) return [];
  const inOrder = matches.sort(
    (one, other) =>
      Math.sign(one.readers.size) - Math.sign(other.readers.size) ||
      (one.readers.size === 0 ? one.readAtMs - other.readAtMs : other.frames.characters - one.frames.characters),
  );
  const kept = inOrder.findIndex(({ frames }) => {
    if (characters <= maxCharacters) return true;
    characters -= frames.characters;
    return false;
  });
  return kept < 0 ? inOrder : inOrder.slice(0, kept);
}
