/** The columns and rows of the cells, row by row from top to bottom, as the game names them. */
const NAMES = ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"];
const LINES = ["012", "345", "678", "036", "147", "258", "048", "246"].map((line) => [...line].map(Number));

/** The scores of the positions that were computed, by their nine cells. There are 5,478 positions. */
const scores = new Map<string, number>();

/** Returns the cells of all best moves. `board` has three rows of `x`, `o` and `.`, from top to bottom; the role with fewer marks is to move. */
export function bestCells(board: readonly string[]): readonly string[] {
  const cells = board.join("");
  const moves = emptyCells(cells);
  const results = moves.map((cell) => -scoreOf(after(cells, cell)));
  const best = Math.max(...results);
  return moves.filter((_, index) => results[index] === best).map((cell) => NAMES[cell] as string);
}

/** The score of a position for the role to move: positive for a win, negative for a loss, 0 for a draw; a quick win and a late loss are better. */
function scoreOf(cells: string): number {
  const known = scores.get(cells);
  if (known !== undefined) return known;
  const empty = emptyCells(cells);
  const isLost = LINES.some(
    ([a = 0, b = 0, c = 0]) => cells[a] !== "." && cells[a] === cells[b] && cells[a] === cells[c],
  );
  const value = isLost
    ? -1 - empty.length
    : Math.max(...(empty.length === 0 ? [0] : empty.map((cell) => -scoreOf(after(cells, cell)))));
  scores.set(cells, value);
  return value;
}

const emptyCells = (cells: string): readonly number[] =>
  [...cells].flatMap((mark, index) => (mark === "." ? [index] : []));

function after(cells: string, cell: number): string {
  const mark = emptyCells(cells).length % 2 === 1 ? "x" : "o";
  return `${cells.slice(0, cell)}${mark}${cells.slice(cell + 1)}`;
}
