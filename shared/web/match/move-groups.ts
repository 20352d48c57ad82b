/** Moves are drawn in groups, so that a new step of a long game draws two groups again and not all moves. An even number, as for the pairs of chess. */
const GROUP = 50;

/** A part of the moves of a game: those from `from` until before `to`. */
export interface MoveGroup {
  readonly from: number;
  readonly to: number;
}

/** Returns the groups of a number of moves. If the second role has made the first move of pairs, the first group has one move less. */
export function moveGroups(count: number, beginsWithSecond: boolean): readonly MoveGroup[] {
  const groups: MoveGroup[] = [];
  for (let from = 0; from < count; ) {
    const size = from === 0 && beginsWithSecond ? GROUP - 1 : GROUP;
    const to = Math.min(count, from + size);
    groups.push({ from, to });
    from = to;
  }
  return groups;
}

/** Returns the number before a move of chess: "1." before the move of white, "" before that of black, "1…" if black begins. */
export function numberOfPly(index: number, blackBegins: boolean): string {
  const ply = index + (blackBegins ? 1 : 0);
  if (ply % 2 === 0) return `${ply / 2 + 1}.`;
  return index === 0 ? "1…" : "";
}
