/** The number of positions that are evaluated in a turn. Each further depth is begun only if the previous one used less than an eighth of it. */
const MAX_POSITIONS = 60_000;
const ROWS = 6;
const COLUMNS = 7;
/** The columns from the centre outwards: the best moves are often in the centre, and alpha-beta is fast if they come first. */
const ORDER = [3, 2, 4, 1, 5, 0, 6];
const WIN = 10_000;
/** The value of a line of four cells by the number of own discs in it, without a disc of the opponent. */
const LINE_VALUES = [0, 1, 4, 16, 0];

/** A position. A cell has the index `column * ROWS + row`, with row 0 at the bottom; 1 is a disc of the role to move at the root, -1 one of the opponent. */
interface Position {
  readonly cells: Int8Array;
  /** The number of discs in each column. */
  readonly heights: Uint8Array;
  discs: number;
}

/** All lines of four cells. */
const LINES: readonly (readonly number[])[] = Array.from({ length: COLUMNS * ROWS }, (_, cell) => {
  const [column, row] = [Math.floor(cell / ROWS), cell % ROWS];
  return (
    [
      [1, 0],
      [0, 1],
      [1, 1],
      [1, -1],
    ] as const
  ).flatMap(([right, up]) => {
    const [lastColumn, lastRow] = [column + 3 * right, row + 3 * up];
    if (lastColumn >= COLUMNS || lastRow < 0 || lastRow >= ROWS) return [];
    return [[0, 1, 2, 3].map((step) => (column + step * right) * ROWS + row + step * up)];
  });
}).flat();

/** The lines through each cell. */
const LINES_OF = Array.from({ length: COLUMNS * ROWS }, (_, cell) => LINES.filter((line) => line.includes(cell)));

/** Returns the best column, 1 to 7. `board` has six rows of `r`, `y` and `.`, from top to bottom; red moves if both have equally many discs. */
export function bestColumn(board: readonly string[]): number {
  const position = positionOf(board);
  let best = ORDER.find((column) => (position.heights[column] as number) < ROWS) ?? 0;
  const search = { positions: 0 };
  for (let depth = 1; depth <= COLUMNS * ROWS - position.discs; depth++) {
    const before = search.positions;
    best = searchRoot(position, depth, search, best);
    if ((search.positions - before) * 8 > MAX_POSITIONS - search.positions) break;
  }
  return best + 1;
}

function positionOf(board: readonly string[]): Position {
  const text = board.join("");
  const discs = [...text].filter((disc) => disc !== ".").length;
  const own = discs % 2 === 0 ? "r" : "y";
  const cells = new Int8Array(COLUMNS * ROWS);
  const heights = new Uint8Array(COLUMNS);
  for (const [index, disc] of [...text].entries()) {
    if (disc === ".") continue;
    const [column, row] = [index % COLUMNS, ROWS - 1 - Math.floor(index / COLUMNS)];
    cells[column * ROWS + row] = disc === own ? 1 : -1;
    heights[column] = Math.max(heights[column] as number, row + 1);
  }
  return { cells, heights, discs };
}

/** Returns the best column at this depth. `first` is tried first, and stays the choice among equal columns. */
function searchRoot(position: Position, depth: number, search: { positions: number }, first: number): number {
  let [best, highest] = [first, Number.NEGATIVE_INFINITY];
  for (const column of [first, ...ORDER.filter((other) => other !== first)]) {
    if ((position.heights[column] as number) === ROWS) continue;
    const value = scoreAfter(position, column, 1, depth - 1, Number.NEGATIVE_INFINITY, -highest, search);
    if (value > highest) [best, highest] = [column, value];
  }
  return best;
}

/** The value of a move for the role that makes it. */
function scoreAfter(
  position: Position,
  column: number,
  disc: 1 | -1,
  depth: number,
  alpha: number,
  beta: number,
  search: { positions: number },
): number {
  const { cells, heights } = position;
  const cell = column * ROWS + (heights[column] as number);
  cells[cell] = disc;
  heights[column] = (heights[column] as number) + 1;
  position.discs++;
  const isWon = (LINES_OF[cell] as readonly (readonly number[])[]).some((line) =>
    line.every((one) => cells[one] === disc),
  );
  // A quick win is better.
  const value = isWon ? WIN - position.discs : -scoreOf(position, disc === 1 ? -1 : 1, depth, alpha, beta, search);
  position.discs--;
  heights[column] = (heights[column] as number) - 1;
  cells[cell] = 0;
  return value;
}

/** The value of a position for the role to move, by alpha-beta. */
function scoreOf(
  position: Position,
  disc: 1 | -1,
  depth: number,
  alpha: number,
  beta: number,
  search: { positions: number },
): number {
  search.positions++;
  if (position.discs === COLUMNS * ROWS) return 0;
  if (depth === 0) return disc * estimate(position.cells);
  let highest = Number.NEGATIVE_INFINITY;
  let lower = alpha;
  for (const column of ORDER) {
    if ((position.heights[column] as number) === ROWS) continue;
    highest = Math.max(highest, scoreAfter(position, column, disc, depth - 1, -beta, -lower, search));
    lower = Math.max(lower, highest);
    if (lower >= beta) break;
  }
  return highest;
}

/** Estimates a position for the role to move at the root, by the lines that one role can still complete. */
function estimate(cells: Int8Array): number {
  let value = 0;
  for (const line of LINES) {
    let [own, theirs] = [0, 0];
    for (const cell of line) {
      if (cells[cell] === 1) own++;
      else if (cells[cell] === -1) theirs++;
    }
    if (theirs === 0) value += LINE_VALUES[own] as number;
    if (own === 0) value -= LINE_VALUES[theirs] as number;
  }
  return value;
}
