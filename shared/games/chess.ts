import { Chess, type Square, validateFen } from "chess.js";
import { z } from "zod";
import { err, ok } from "../lib/result.ts";
import type { Game } from "./game.ts";

const ROLES = ["white", "black"] as const;
type Color = (typeof ROLES)[number];

/** How a game ended; `winner` is null for a draw. */
export interface ChessOutcome {
  readonly winner: Color | null;
  readonly reason: "checkmate" | "stalemate" | "insufficient_material" | "threefold_repetition" | "fifty_moves";
}

/** state-machine-host.md, section 8. */
export interface ChessView {
  readonly fen: string;
  readonly turn: Color;
  readonly outcome: ChessOutcome | null;
}

export interface ChessState extends ChessView {
  /** The positions since the last irreversible move, this one included: a FEN alone forgets repetition. */
  readonly positions: readonly string[];
}

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const UCI = /^([a-h][1-8])([a-h][1-8])([qrbn])?$/;
const FIFTY_MOVES_PLIES = 100;

const Options = z.strictObject({
  /** Where the game starts. */
  fen: z.string().refine(isPlayable, "not a position that can be played on").default(START),
});
export type ChessOptions = z.infer<typeof Options>;

/**
 * A live board for each line of play, so that no FEN is parsed at every ply: the board moves on to the state that a move leads
 * to. A state whose board has gone gets a new one from its FEN, so `applyAction` stays pure.
 */
const boards = new WeakMap<object, Chess>();

function boardOf(position: ChessView): Chess {
  let board = boards.get(position);
  if (!board) boards.set(position, (board = new Chess(position.fen)));
  return board;
}

export const chess: Game<ChessOptions, ChessState, string, ChessView> = {
  id: "chess.v1",
  roles: ROLES,
  // The fifty-move rule ends every game before 5,899 moves.
  info: { name: "Chess", simultaneous: false, hiddenInformation: false, maxActions: 12_000 },
  options: Options,
  action: z.string("a move is UCI text like e2e4").max(10, "a move is UCI text like e2e4"),
  initialState: ({ options: { fen } }) => stateAfter(new Chess(fen), new Chess(fen).fen(), []),
  toAct: (state) => (state.outcome === null ? [state.turn] : []),
  legalActions: (state, role) =>
    state.outcome === null && role === state.turn ? listMoves(boardOf(state), state.fen) : [],
  applyAction(state, role, action) {
    if (state.outcome !== null) return err({ message: "the game is over" });
    if (role !== state.turn) return err({ message: `it is ${state.turn}'s turn` });
    const [, from, to, promotion] = UCI.exec(action) ?? [];
    if (!from || !to) return err({ message: "a move is UCI text like e2e4, or e7e8q for a promotion" });
    const board = boardOf(state);
    const isPromotion = board.get(from as Square)?.type === "p" && /[18]$/.test(to);
    // chess.js would promote to a knight, or ignore the letter.
    if (isPromotion !== (promotion !== undefined)) {
      return err({ message: isPromotion ? `name the piece: ${from}${to}q` : `${action} is no promotion` });
    }
    try {
      const move = board.move({ from, to, ...(promotion && { promotion }) });
      boards.delete(state);
      const isIrreversible = move.piece === "p" || move.isCapture();
      return ok(stateAfter(board, move.after, isIrreversible ? [] : state.positions));
    } catch {
      return err({ message: `${action} is not a legal move` });
    }
  },
  isTerminal: (state) => state.outcome !== null,
  outcome(state) {
    if (state.outcome === null) return null;
    const { winner, reason } = state.outcome;
    const scores =
      winner === null ? { white: 0.5, black: 0.5 } : { white: +(winner === "white"), black: +(winner === "black") };
    return { scores, reason };
  },
  viewState: ({ fen, turn, outcome }) => ({ fen, turn, outcome }),
  toText: (state) => textOf(state),
};

function stateAfter(board: Chess, fen: string, before: readonly string[]): ChessState {
  const positions = [...before, positionKey(fen)];
  const turn = board.turn() === "w" ? "white" : "black";
  const state: ChessState = { fen, turn, outcome: outcomeOf(board, fen, turn, positions), positions };
  boards.set(state, board);
  return state;
}

/** Placement, side to move, castling and en passant: what makes two positions the same (FIDE Laws, 9.2.3). */
const positionKey = (fen: string): string => fen.split(" ", 4).join(" ");

function outcomeOf(board: Chess, fen: string, turn: Color, positions: readonly string[]): ChessOutcome | null {
  if (!hasMove(board, fen)) {
    if (!board.isCheck()) return { winner: null, reason: "stalemate" };
    return { winner: turn === "white" ? "black" : "white", reason: "checkmate" };
  }
  if (board.isInsufficientMaterial()) return { winner: null, reason: "insufficient_material" };
  const key = positions.at(-1);
  if (positions.filter((one) => one === key).length >= 3) return { winner: null, reason: "threefold_repetition" };
  if (Number(fen.split(" ", 5)[4]) >= FIFTY_MOVES_PLIES) return { winner: null, reason: "fifty_moves" };
  return null;
}

/** The squares of the side to move's pieces; pawns first, whose moves are few and cheap to list. */
function ownSquares(fen: string): Square[] {
  const [placement = "", turn] = fen.split(" ", 2);
  const isWhite = turn === "w";
  const pawns: Square[] = [];
  const pieces: Square[] = [];
  for (const [index, rank] of placement.split("/").entries()) {
    let file = 0;
    for (const character of rank) {
      if (character >= "1" && character <= "8") {
        file += Number(character);
        continue;
      }
      const square = `${"abcdefgh"[file]}${8 - index}` as Square;
      if (isWhite === character < "a") (character === "P" || character === "p" ? pawns : pieces).push(square);
      file++;
    }
  }
  return [...pawns, ...pieces];
}

/** Stops at the first piece that can move. */
const hasMove = (board: Chess, fen: string): boolean =>
  ownSquares(fen).some((square) => board.moves({ square }).length > 0);

/** Every legal move as UCI, sorted. The short notation ends in the target square, which spares the verbose and slow one. */
function listMoves(board: Chess, fen: string): readonly string[] {
  const rank = board.turn() === "w" ? "1" : "8";
  return ownSquares(fen)
    .flatMap((from) => board.moves({ square: from }).map((san) => from + targetOf(san, rank)))
    .sort();
}

function targetOf(san: string, homeRank: string): string {
  const bare = san.replace(/[+#]$/, "");
  if (bare === "O-O") return `g${homeRank}`;
  if (bare === "O-O-O") return `c${homeRank}`;
  const [place = "", promotion = ""] = bare.split("=");
  return place.slice(-2) + promotion.toLowerCase();
}

function isPlayable(fen: string): boolean {
  if (!validateFen(fen).ok) return false;
  const board = new Chess(fen);
  return hasMove(board, fen) && !board.isInsufficientMaterial() && Number(fen.split(" ", 5)[4]) < FIFTY_MOVES_PLIES;
}

function textOf({ fen, turn, outcome }: ChessView): string {
  const rows = (fen.split(" ", 1)[0] ?? "").split("/").map((rank, index) => {
    const cells = rank.replace(/\d/g, (n) => ".".repeat(Number(n)));
    return `${8 - index}  ${[...cells].join(" ")}`;
  });
  const end =
    outcome && `The game is over: ${outcome.winner ? `${outcome.winner} wins` : "draw"} by ${outcome.reason}.`;
  return [...rows, "   a b c d e f g h", end ?? `${turn} to move.`, fen].join("\n");
}
