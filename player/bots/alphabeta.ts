import type { BotObject, Turn } from "../sdk.ts";
import { boardOf, keyOf, listMoves, make, uciOf } from "./strategies/chess-board.ts";
import { bestMove } from "./strategies/chess-search.ts";

/** Plays chess by a search of a few moves, and avoids repetitions while it stands better. Equal moves are chosen by the seed of the match. */
export default class AlphaBeta implements BotObject<"chess.v1"> {
  /** The positions of this match so far, by their keys. */
  readonly #played = new Set<string>();

  choose({ view, legal, random }: Turn<"chess.v1">): string {
    const board = boardOf(view.fen);
    this.#played.add(keyOf(board));
    const legalMoves = new Set(legal);
    const moves = listMoves(board, false).filter((move) => legalMoves.has(uciOf(move)));
    const move = bestMove(board, random.shuffle(moves), this.#played);
    make(board, move);
    this.#played.add(keyOf(board));
    return uciOf(move);
  }
}
