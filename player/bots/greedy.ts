import type { ViewOf } from "#shared/games/registry.ts";
import { findGame } from "#shared/games/registry.ts";
import type { Bot, Turn } from "../sdk.ts";

type Chess = ViewOf<"chess.v1">;

const PIECE_VALUES: Readonly<Record<string, number>> = { p: 1, n: 3, b: 3, r: 5, q: 9, k: 0 };
/** Moves evaluated per turn, the best captures first. The limit is a number and not a time, so that a run can be repeated with its seed. */
const CANDIDATES = 12;
const MATE = 1_000;
/** The value of a draw: worse than the loss of a queen. */
const DRAW = -20;
/** Breaks ties between moves: each reply of the opponent lowers the value of a move. */
const PER_REPLY = 0.01;

/**
 * In chess it plays the move with the highest gain minus the opponent's best capture in reply. In other games it plays a random legal
 * action.
 */
export default ((turn) =>
  turn.game === "chess.v1" ? bestMove(turn as Turn<"chess.v1">) : turn.random.pick<unknown>(turn.legal)) satisfies Bot;

function bestMove({ view, legal, role, random }: Turn<"chess.v1">): string {
  const chess = findGame("chess.v1");
  if (!chess) return random.pick(legal);
  const state = chess.initialState({ options: { fen: view.fen }, seed: "" });
  const other = role === "white" ? "black" : "white";
  const gains = new Map(gainsOf(view, legal).map((gain, index) => [legal[index] ?? "", gain]));
  const evaluate = (move: string): number => {
    const next = chess.applyAction(state, role, move);
    if (!next.ok) return Number.NEGATIVE_INFINITY;
    const after = next.value as Chess;
    if (after.outcome) return after.outcome.winner === null ? DRAW : MATE;
    const replies = chess.legalActions(next.value, other) as readonly string[];
    return (gains.get(move) ?? 0) - Math.max(...gainsOf(after, replies)) - PER_REPLY * replies.length;
  };
  const promising = random.shuffle(legal).toSorted((a, b) => (gains.get(b) ?? 0) - (gains.get(a) ?? 0));
  const candidates = promising.slice(0, CANDIDATES).map((move) => ({ move, value: evaluate(move) }));
  return candidates.reduce((best, candidate) => (candidate.value > best.value ? candidate : best)).move;
}

/** For each move, the value of the piece that it captures plus the value of the piece that it promotes to. */
function gainsOf(view: Chess, moves: readonly string[]): readonly number[] {
  const pieces = piecesOf(view.fen);
  return moves.map(
    (move) => (PIECE_VALUES[pieces.get(move.slice(2, 4)) ?? ""] ?? 0) + (PIECE_VALUES[move.slice(4)] ?? 0),
  );
}

/** The piece on each occupied square, as a lower-case letter by the name of the square. */
function piecesOf(fen: string): ReadonlyMap<string, string> {
  const pieces = new Map<string, string>();
  for (const [index, rank] of (fen.split(" ", 1)[0] ?? "").split("/").entries()) {
    let file = 0;
    for (const character of rank) {
      if (/\d/.test(character)) file += Number(character);
      else pieces.set(`${"abcdefgh"[file++]}${8 - index}`, character.toLowerCase());
    }
  }
  return pieces;
}
