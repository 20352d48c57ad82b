import { Chess } from "chess.js";
import { chess } from "#shared/games/chess.ts";
import { createRandom } from "#shared/lib/rng.ts";

/**
 * Result of the process `node scripts/bench/matches/chess.ts SEED GAMES`, which replays random games with the rules of this project and with
 * chess.js.
 */
export interface ChessRate {
  /** The number of measured plies. */
  readonly plies: number;
  /** Microseconds of processor time per ply of `applyAction`. */
  readonly applyAction: number;
  /** Microseconds of processor time per ply of `Chess.move`. */
  readonly chessJsMove: number;
}

const [seed = "bench", gameCount = "20"] = process.argv.slice(2);
const MAX_PLIES = 300;
const WARM_UPS = 1;
const PASSES = 3;

/** Returns the moves of a random game. They are chosen before the measurement. */
function randomGame(name: string): readonly string[] {
  const random = createRandom(name);
  const moves: string[] = [];
  let state = initialState();
  while (!chess.isTerminal(state) && moves.length < MAX_PLIES) {
    const move = random.pick(chess.legalActions(state, state.turn)) as string;
    moves.push(move);
    state = stateAfter(state, move);
  }
  return moves;
}

const initialState = () => chess.initialState({ options: chess.options.parse({}), seed: "" });

function stateAfter(state: ReturnType<typeof initialState>, move: string): ReturnType<typeof initialState> {
  const applied = chess.applyAction(state, state.turn, move);
  if (!applied.ok) throw new Error(`${move}: ${applied.error.message}`);
  return applied.value;
}

function replayWithApplyAction(moves: readonly string[]): void {
  moves.reduce(stateAfter, initialState());
}

function replayWithChessJs(moves: readonly string[]): void {
  const board = new Chess();
  for (const uci of moves) {
    const promotion = uci.slice(4);
    board.move({ from: uci.slice(0, 2), to: uci.slice(2, 4), ...(promotion && { promotion }) });
  }
}

/** Returns the microseconds of processor time that `run` uses. */
function cpuTimeOf(run: (moves: readonly string[]) => void, moves: readonly string[]): number {
  const { user, system } = process.cpuUsage();
  run(moves);
  const now = process.cpuUsage();
  return now.user + now.system - user - system;
}

const games = Array.from({ length: Number(gameCount) }, (_, index) => randomGame(`${seed}/${index}`));
const plies = games.reduce((sum, moves) => sum + moves.length, 0);
const total = { applyAction: 0, chessJs: 0 };
for (let pass = 0; pass < WARM_UPS + PASSES; pass++) {
  // Both replay each game in turn, so that other load of the machine affects both equally.
  for (const moves of games) {
    const applyAction = cpuTimeOf(replayWithApplyAction, moves);
    const chessJs = cpuTimeOf(replayWithChessJs, moves);
    if (pass < WARM_UPS) continue;
    total.applyAction += applyAction;
    total.chessJs += chessJs;
  }
}
const rate: ChessRate = {
  plies: plies * PASSES,
  applyAction: total.applyAction / plies / PASSES,
  chessJsMove: total.chessJs / plies / PASSES,
};
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.(rate));
process.send?.({ type: "ready", url: "" });
