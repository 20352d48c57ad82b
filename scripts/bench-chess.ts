import { Chess } from "chess.js";
import { chess } from "#shared/games/chess.ts";
import { createRandom } from "#shared/lib/rng.ts";

/** Plays random games of chess again and again, in a process of its own: `bench-chess.ts SEED GAMES`. */
export interface ChessRate {
  readonly plies: number;
  /** Microseconds a ply. */
  readonly applyAction: number;
  readonly chessJsMove: number;
}

const [seed = "bench", games = "20"] = process.argv.slice(2);
const MAX_PLIES = 300;
const WARM_UPS = 2;

/** One random game; its moves are chosen outside the clock. */
function randomGame(name: string): readonly string[] {
  const random = createRandom(name);
  const moves: string[] = [];
  let state = start();
  while (!chess.isTerminal(state) && moves.length < MAX_PLIES) {
    const move = random.pick(chess.legalActions(state, state.turn)) as string;
    moves.push(move);
    state = after(state, move);
  }
  return moves;
}

const start = () => chess.initialState({ options: chess.options.parse({}), seed: "" });

function after(state: ReturnType<typeof start>, move: string): ReturnType<typeof start> {
  const applied = chess.applyAction(state, state.turn, move);
  if (!applied.ok) throw new Error(`${move}: ${applied.error.message}`);
  return applied.value;
}

function byUs(all: readonly (readonly string[])[]): void {
  for (const moves of all) moves.reduce(after, start());
}

function byChessJs(all: readonly (readonly string[])[]): void {
  for (const moves of all) {
    const board = new Chess();
    for (const uci of moves) {
      const promotion = uci.slice(4);
      board.move({ from: uci.slice(0, 2), to: uci.slice(2, 4), ...(promotion && { promotion }) });
    }
  }
}

function timed(run: () => void): number {
  const { user, system } = process.cpuUsage();
  run();
  const now = process.cpuUsage();
  return now.user + now.system - user - system;
}

const all = Array.from({ length: Number(games) }, (_, index) => randomGame(`${seed}/${index}`));
const plies = all.reduce((sum, moves) => sum + moves.length, 0);
for (let turn = 0; turn < WARM_UPS; turn++) {
  byUs(all);
  byChessJs(all);
}
const rate: ChessRate = {
  plies,
  applyAction: timed(() => byUs(all)) / plies,
  chessJsMove: timed(() => byChessJs(all)) / plies,
};
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.(rate));
process.send?.({ type: "ready", url: "" });
