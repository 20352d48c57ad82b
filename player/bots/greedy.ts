import type { ViewOf } from "#shared/games/registry.ts";
import { findGame } from "#shared/games/registry.ts";
import type { Bot, Turn } from "../sdk.ts";

type Chess = ViewOf<"chess.v1">;

const WORTH: Readonly<Record<string, number>> = { p: 1, n: 3, b: 3, r: 5, q: 9, k: 0 };
/** Moves looked at per turn, the best captures first: a limit by nodes, not by time, so that a seed repeats a run. */
const CANDIDATES = 12;
const MATE = 1_000;
/** A draw is worth less than any move that keeps what there is. */
const DRAW = -20;
/** Settles between moves of like worth: a cornered king has few replies. */
const PER_REPLY = 0.01;

/** In chess, of some moves the one that wins the most, the other side's best capture taken off; in other games any legal action. */
export default ((turn) =>
  turn.game === "chess.v1" ? bestMove(turn as Turn<"chess.v1">) : turn.random.pick<unknown>(turn.legal)) satisfies Bot;

function bestMove({ view, legal, role, random }: Turn<"chess.v1">): string {
  const chess = findGame("chess.v1");
  if (!chess) return random.pick(legal);
  const state = chess.initialState({ options: { fen: view.fen }, seed: "" });
  const other = role === "white" ? "black" : "white";
  const gains = new Map(gainsOf(view, legal).map((gain, place) => [legal[place] ?? "", gain]));
  const worth = (move: string): number => {
    const next = chess.applyAction(state, role, move);
    if (!next.ok) return Number.NEGATIVE_INFINITY;
    const after = next.value as Chess;
    if (after.outcome) return after.outcome.winner === null ? DRAW : MATE;
    const replies = chess.legalActions(next.value, other) as readonly string[];
    return (gains.get(move) ?? 0) - Math.max(...gainsOf(after, replies)) - PER_REPLY * replies.length;
  };
  const promising = random.shuffle(legal).toSorted((a, b) => (gains.get(b) ?? 0) - (gains.get(a) ?? 0));
  const worths = promising.slice(0, CANDIDATES).map((move) => ({ move, worth: worth(move) }));
  return worths.reduce((best, one) => (one.worth > best.worth ? one : best)).move;
}

/** What moves take and promote to. */
function gainsOf(view: Chess, moves: readonly string[]): readonly number[] {
  const pieces = piecesOf(view.fen);
  return moves.map((move) => (WORTH[pieces.get(move.slice(2, 4)) ?? ""] ?? 0) + (WORTH[move.slice(4)] ?? 0));
}

/** Square to piece letter, in lower case. */
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
