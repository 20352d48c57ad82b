const LINES = [
  [0, 1, 2] as const,
  [3, 4, 5] as const,
  [6, 7, 8] as const,
  [0, 3, 6] as const,
  [1, 4, 7] as const,
  [2, 5, 8] as const,
  [0, 4, 8] as const,
  [2, 4, 6] as const,
];

interface Position {
  readonly G: { cells: (string | null)[] };
  readonly playerID: string;
}

/** Tic-tac-toe as the tutorial of boardgame.io defines it. */
export const ticTacToe = {
  name: "tic-tac-toe",
  setup: () => ({ cells: Array.from({ length: 9 }, () => null) }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    clickCell({ G, playerID }: Position, cell: number): string | undefined {
      if (G.cells[cell] !== null) return "INVALID_MOVE";
      G.cells[cell] = playerID;
    },
  },
  endIf({ G: { cells }, ctx }: Position & { readonly ctx: { readonly currentPlayer: string } }): object | undefined {
    const isLine = ([a, b, c]: (typeof LINES)[number]): boolean =>
      cells[a] !== null && cells[a] === cells[b] && cells[a] === cells[c];
    if (LINES.some(isLine)) return { winner: ctx.currentPlayer };
    if (!cells.includes(null)) return { draw: true };
  },
};

/** The state of a match in a client. */
export interface State {
  readonly G: { readonly cells: readonly (string | null)[] };
  readonly ctx: { readonly currentPlayer: string; readonly turn: number; readonly gameover?: unknown };
}

/** The parts of a client of boardgame.io 0.50 that the bench uses. */
export interface Client {
  start(): void;
  stop(): void;
  readonly moves: { clickCell(cell: number): void };
  /** Null until a client with a server has received the state. */
  getState(): State | null;
  subscribe(listener: (state: State | null) => void): void;
}

/** Chooses a free cell at random. */
export function randomCell({ G: { cells } }: State): number {
  const free = cells.flatMap((owner, cell) => (owner === null ? [cell] : []));
  return free[Math.floor(Math.random() * free.length)] as number;
}
