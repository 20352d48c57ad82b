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
const WARM_UPS = 1;
const PASSES = 3;

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

function byUs(moves: readonly string[]): void {
  moves.reduce(after, start());
}

function byChessJs(moves: readonly string[]): void {
  const board = new Chess();
  for (const uci of moves) {
    const promotion = uci.slice(4);
    board.move({ from: uci.slice(0, 2), to: uci.slice(2, 4), ...(promotion && { promotion }) });
  }
}

function timed(run: (moves: readonly string[]) => void, moves: readonly string[]): number {
  const { user, system } = process.cpuUsage();
  run(moves);
  const now = process.cpuUsage();
  return now.user + now.system - user - system;
}

const all = Array.from({ length: Number(games) }, (_, index) => randomGame(`${seed}/${index}`));
const plies = all.reduce((sum, moves) => sum + moves.length, 0);
const total = { us: 0, chessJs: 0 };
for (let pass = 0; pass < WARM_UPS + PASSES; pass++) {
  // Game by game in turn, so that whatever else the machine does hits both alike.
  for (const moves of all) {
    const us = timed(byUs, moves);
    const chessJs = timed(byChessJs, moves);
    if (pass < WARM_UPS) continue;
    total.us += us;
    total.chessJs += chessJs;
  }
}
const rate: ChessRate = {
  plies: plies * PASSES,
  applyAction: total.us / plies / PASSES,
  chessJsMove: total.chessJs / plies / PASSES,
};
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.(rate));
process.send?.({ type: "ready", url: "" });
