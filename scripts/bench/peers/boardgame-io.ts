/**
 * The process `node scripts/bench/peers/boardgame-io.ts FOLDER`, which plays games of tic-tac-toe with random moves in a local client of boardgame.io, as
 * its tutorial defines the game, until it is stopped. The package is installed in FOLDER. Its answer to each message is the number of moves so far.
 */
import { createRequire } from "node:module";
import { join } from "node:path";

/** The parts of boardgame.io 0.50 that this program uses. */
interface Library {
  Client(options: object): {
    start(): void;
    stop(): void;
    readonly moves: { clickCell(cell: number): void };
    getState(): { readonly G: { readonly cells: readonly (string | null)[] }; readonly ctx: { gameover?: unknown } };
  };
}

const LINES = [
  ...[[0, 1, 2] as const, [3, 4, 5] as const, [6, 7, 8] as const],
  ...[[0, 3, 6] as const, [1, 4, 7] as const, [2, 5, 8] as const],
  ...[[0, 4, 8] as const, [2, 4, 6] as const],
];

interface Position {
  readonly G: { cells: (string | null)[] };
  readonly playerID: string;
}

const ticTacToe = {
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

const [folder = ""] = process.argv.slice(2);
const { Client } = createRequire(join(folder, "package.json"))("boardgame.io/client") as Library;
let moves = 0;
process.on("message", () => process.send?.(moves));
process.on("SIGTERM", () => process.exit());
process.on("disconnect", () => process.exit());
process.send?.({ type: "ready", url: "" });

/** Plays one game, and then lets the process answer its messages. */
function playGame(): void {
  const client = Client({ game: ticTacToe, debug: false });
  client.start();
  for (let state = client.getState(); state.ctx.gameover === undefined; state = client.getState()) {
    const free = state.G.cells.flatMap((owner, cell) => (owner === null ? [cell] : []));
    client.moves.clickCell(free[Math.floor(Math.random() * free.length)] as number);
    moves++;
  }
  client.stop();
  setImmediate(playGame);
}
playGame();
