import { positionsAfter } from "#shared/games/chess/position.ts";
import { chess } from "#shared/games/chess.ts";

const INITIAL = chess.options.parse({});

/** A start position and the moves after it, which an engine needs to see repetitions. */
export class MatchPosition {
  #start: string;
  #moves: string[];
  /** The position after the moves. */
  #fen: string;

  /** Begins at the start of a match with these options. */
  constructor(options: unknown) {
    const parsed = chess.options.safeParse(options ?? {});
    const { fen, moves } = parsed.data ?? INITIAL;
    this.#start = fen;
    this.#moves = moves?.split(" ") ?? [];
    this.#fen = parsed.success ? chess.initialState({ options: parsed.data, seed: "" }).fen : fen;
  }

  /**
   * Continues to a position of a turn. A view does not contain moves: they are found by their results. `own` is the last move that
   * this player has answered, which may not have been played. If the position is not reached by these moves, for example after a
   * restart of the player, the history begins with it.
   */
  continueTo(fen: string, own: string | null): void {
    if (fen === this.#fen) return;
    const afterOwn = own === null ? null : positionsAfter(this.#fen).get(own);
    const played = this.#reply(this.#fen, fen) ?? (afterOwn && this.#reply(afterOwn, fen, own));
    this.#moves = played ? [...this.#moves, ...played] : [];
    if (!played) this.#start = fen;
    this.#fen = fen;
  }

  /** Returns the moves that lead from one position to another by one move, with `before` as their first one; null if there are none. */
  #reply(from: string, to: string, before: string | null = null): readonly string[] | null {
    const [move] = [...positionsAfter(from)].find(([, result]) => result === to) ?? [];
    return move === undefined ? null : [...(before === null ? [] : [before]), move];
  }

  /** Returns the position as a command of UCI. */
  command(): string {
    const start = this.#start === INITIAL.fen ? "startpos" : `fen ${this.#start}`;
    return ["position", start, ...(this.#moves.length > 0 ? ["moves", ...this.#moves] : [])].join(" ");
  }
}
