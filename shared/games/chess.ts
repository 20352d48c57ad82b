import { Chess, DEFAULT_POSITION, type Square } from "chess.js";
import { z } from "zod";
import { err, ok, type Result } from "#shared/lib/result.ts";
import {
  ADJUDICATION_OPTIONS,
  ADJUDICATION_TEXTS,
  type Adjudication,
  adjudicatedResult,
  adjudicationOf,
  afterScore,
  NEEDED_OPTIONS,
  type Score,
} from "./chess/adjudication.ts";
import { explainIllegalMove, hasMove, listMoves, makeMove, startPosition, uciOfSan } from "./chess/moves.ts";
import { type Color, DRAW, DRAW_OFFER_TEXTS, isOffered } from "./chess/terms.ts";
import type { Game, Illegal } from "./game.ts";

const ROLES = ["white", "black"] as const;
type Seat = (typeof ROLES)[number];

/**
 * UCI: "e2e4", "e1g1" to castle, "e7e8q" to promote. With an option of adjudication, the score of the position from the
 * point of view of the role may follow, as engines report it: "e2e4 cp 35", "e2e4 mate -3". With the option
 * `draw_offers`, "e2e4 draw" also offers a draw, and "draw" accepts the offer of the opponent's last move.
 */
type ChessAction = string;

export interface ChessView {
  readonly fen: string;
  readonly turn: Color;
  readonly outcome: ChessOutcome | null;
  /**
   * The moves from the option `fen` to this position in UCI, also those of the option `moves`. Absent in `turn.history`,
   * and in views of referees of earlier versions.
   */
  readonly moves?: readonly string[];
  /** The ply at which the game is drawn, counted as the FEN counts moves. Present only with the option `max_plies`. */
  readonly ends_at?: number;
  /** The role whose last move has offered a draw. Present only with the option `draw_offers`. */
  readonly draw_offer?: Color | null;
}

export interface ChessState extends ChessView {
  readonly moves: readonly string[];
  /** The positions since the last irreversible move, including the current one. A FEN does not record repetition. */
  readonly positions: readonly string[];
  /** Present only with an option of adjudication. */
  readonly adjudication?: Adjudication;
}

const ACTION = /^(([a-h][1-8])([a-h][1-8])([qrbn])?)(?: (cp|mate) (-?\d{1,6}))?(?: (draw))?$/;
const MAX_ACTION = 25;
/** Mixed case is excluded: "B4c3" is a bishop's move in SAN. */
const LOOSE_UCI = /^(?:([a-h][1-8])[-x]?([a-h][1-8])|([A-H][1-8])[-xX]?([A-H][1-8]))=?([qrbnQRBN])?$/;

/** At most 300 plies of UCI with one space between them. */
const MOVES = /^[a-h][1-8][a-h][1-8][qrbn]?(?: [a-h][1-8][a-h][1-8][qrbn]?){0,299}$/;
const MOVES_FORM = "must be 1 to 300 moves in UCI, with one space between them: e2e4 e7e5";

const OptionFields = z.strictObject({
  /** The position in which the game begins. */
  fen: z
    .string()
    .max(100)
    .transform((text, context) => {
      const start = startPosition(text);
      if (start.ok) return start.value;
      context.addIssue({ code: "custom", message: start.error });
      return z.NEVER;
    })
    .default(DEFAULT_POSITION),
  /** The moves from `fen` that lead to the position in which the players begin. */
  moves: z.string().regex(MOVES, { error: MOVES_FORM, abort: true }).optional(),
  /** The number of plies after which the game is a draw; no limit if absent. */
  max_plies: z.int().min(1).max(12_000).optional(),
  ...ADJUDICATION_OPTIONS,
  /** Whether players can offer draws. Games between people set it; a game without it has no such actions. */
  draw_offers: z.literal(true).optional(),
});
type ChessOptions = z.infer<typeof OptionFields>;

const Options = OptionFields.superRefine((options, context) => {
  const start = startOf(options);
  if (!start.ok) context.addIssue({ code: "custom", path: ["moves"], message: start.error });
  for (const [name, needed] of NEEDED_OPTIONS) {
    if (options[name] === undefined || options[needed] !== undefined) continue;
    context.addIssue({ code: "custom", path: [name], message: `has no effect without ${needed}` });
  }
});

/**
 * A live board for each line of play, so that no FEN is parsed at every ply. A move takes the board to the state after
 * it. A state without a board gets a new one from its FEN, so `applyAction` remains pure.
 */
const boards = new WeakMap<object, Chess>();

function boardOf(position: ChessView): Chess {
  const board = boards.get(position) ?? new Chess(position.fen);
  boards.set(position, board);
  return board;
}

const HOW_TO_PLAY =
  "Players move one piece in turn; White begins. You win when you attack the king of your opponent and it cannot escape: checkmate. The game is a draw if a player has no legal move without being in check, if a position occurs for the third time, or after fifty moves without a capture or a pawn move.";
const RULES = `Chess by the FIDE Laws. Checkmate wins. Stalemate, insufficient material, the third repetition of a position and fifty moves without a
capture or a pawn move are draws, immediately and without a claim.
An action is a move in UCI: "e2e4", "e1g1" to castle, "e7e8q" to promote. Where a person or an LLM writes it, SAN is accepted as well.`;

/**
 * Chess by the FIDE Laws. Checkmate, stalemate, insufficient material, the third repetition and the fifty-move rule end
 * the game immediately, without a claim.
 */
export const chess: Game<ChessOptions, ChessState, ChessAction, ChessView, Seat> = {
  id: "chess.v1",
  roles: ROLES,
  // There are at most 118 pawn moves and captures, and fewer than 100 plies between two of them.
  info: {
    name: "Chess",
    rules: RULES,
    howToPlay: HOW_TO_PLAY,
    options: {
      fen: "position in FEN where the game begins; default: the initial position",
      moves: "moves in UCI from `fen`, like `e2e4 e7e5`: the players begin in the position after them; default: none",
      max_plies: "1 to 12000: the game is a draw after this number of plies; default: no limit",
      ...ADJUDICATION_TEXTS,
      ...DRAW_OFFER_TEXTS,
    },
    optionsOfPeople: { draw_offers: true },
    simultaneous: false,
    hiddenInformation: false,
    maxActions: 12_000,
    history: ["moves"],
    historyForPrograms: true,
    board: "chess",
    notation: "UCI (e2e4, e7e8q) or SAN (Nf3, O-O)",
    winningReason: "checkmate",
  },
  options: Options,
  action: z.string("a move is UCI text like e2e4").max(MAX_ACTION, "a move is UCI text like e2e4"),
  initialState({ options }) {
    const start = startOf(options);
    if (!start.ok) throw new Error(start.error);
    const adjudication = adjudicationOf(options);
    const { max_plies, draw_offers } = options;
    return {
      ...start.value,
      ...(max_plies !== undefined && { ends_at: plyOf(start.value.fen) + max_plies }),
      ...(adjudication && { adjudication }),
      ...(draw_offers && { draw_offer: null }),
    };
  },
  toAct: (state) => (state.outcome === null ? [state.turn] : []),
  legalActions(state, role) {
    if (state.outcome !== null || role !== state.turn) return [];
    const moves = listMoves(boardOf(state));
    return isOffered(state.draw_offer, role) ? [...moves, DRAW] : moves;
  },
  applyAction(state, role, action) {
    if (state.outcome !== null) return err({ message: "the game is over" });
    if (role !== state.turn) return err({ message: `it is ${state.turn}'s turn` });
    // The actions of a replayed log are not parsed by the schema, and a pattern would accept the array ["e2e4"] as
    // text.
    if (action === DRAW) return acceptDraw(state);
    const [, move, from, to, promotion, unit, value, offer] = (typeof action === "string" && ACTION.exec(action)) || [];
    if (!move || !from || !to) return err({ message: "a move is UCI text like e2e4, or e7e8q for a promotion" });
    if (unit !== undefined && !state.adjudication)
      return err({ message: `this game has no adjudication, so a move has no score: write ${move}` });
    if (offer !== undefined && state.draw_offer === undefined)
      return err({ message: `this game has no draw offers: write ${move}` });
    const board = boardOf(state);
    const isPromotion = board.get(from as Square)?.type === "p" && /[18]$/.test(to);
    // chess.js would promote to a knight, or ignore the letter.
    if (isPromotion !== (promotion !== undefined)) {
      return err({ message: isPromotion ? `name the piece: ${from}${to}q` : `${move} is not a promotion` });
    }
    if (!makeMove(board, from as Square, move)) return err({ message: `${move} is not a legal move` });
    boards.delete(state);
    const score = unit === undefined ? null : ({ unit: unit as Score["unit"], value: Number(value) } as const);
    const next = stateAfter(state, board, { move, score, offersDraw: offer !== undefined });
    boards.set(next, board);
    return ok(next);
  },
  isTerminal: (state) => state.outcome !== null,
  outcome(state) {
    if (state.outcome === null) return null;
    const { winner, reason } = state.outcome;
    const scores =
      winner === null ? { white: 0.5, black: 0.5 } : { white: +(winner === "white"), black: +(winner === "black") };
    return { scores, reason };
  },
  viewState: ({ fen, turn, outcome, moves, ends_at, draw_offer }) => ({
    fen,
    turn,
    outcome,
    moves,
    ...(ends_at !== undefined && { ends_at }),
    ...(draw_offer !== undefined && { draw_offer }),
  }),
  toText: textOf,
  readAction: ({ fen }, text) => uciOf(bareMove(text)) ?? uciOfSan(fen, bareMove(text)),
  explainIllegal: ({ fen }, text) => (text === DRAW ? NO_OFFER : explainIllegalMove(fen, bareMove(text))),
};

const MOVE_NUMBER = /^\d{1,4}\s?(?:\.{1,3}|…)\s*/;
const SPACED_SQUARES = /^([a-h][1-8]) (?=[a-h][1-8])/i;

/** Returns a move without its number ("1. e4", "12...Nf6") or the space between its squares ("e2 e4"). "1. e4 e5" are two moves. */
const bareMove = (text: string): string =>
  MOVE_NUMBER.test(text) ? text.replace(MOVE_NUMBER, "") : text.replace(SPACED_SQUARES, "$1");

/** Reads UCI in any case, also written as e2-e4 or e7xd8=Q. Returns the action, or null for any other text. */
function uciOf(text: string): ChessAction | null {
  const [, from, to, FROM, TO, promotion = ""] = LOOSE_UCI.exec(text) ?? [];
  const squares = from && to ? from + to : FROM && TO ? FROM + TO : null;
  return squares && (squares + promotion).toLowerCase();
}

/** Returns the state in which the players begin, or the reason why the moves of the options do not lead to one. */
function startOf({ fen, moves }: Pick<ChessOptions, "fen" | "moves">): Result<ChessState, string> {
  let state: ChessState = { fen, turn: turnOf(fen), outcome: null, moves: [], positions: [positionKey(fen)] };
  for (const [ply, move] of (moves?.split(" ") ?? []).entries()) {
    const applied = chess.applyAction(state, state.turn, move);
    if (!applied.ok) return err(`ply ${ply + 1}: ${applied.error.message}`);
    state = applied.value;
  }
  return state.outcome === null ? ok(state) : err("the game is over after these moves");
}

/** Returns the state after a role has accepted a draw, or the reason why it cannot. */
function acceptDraw(state: ChessState): Result<ChessState, Illegal> {
  if (!isOffered(state.draw_offer, state.turn)) return err({ message: NO_OFFER });
  return ok({ ...state, draw_offer: null, outcome: { winner: null, reason: "draw_agreed" } });
}

interface Played {
  readonly move: string;
  readonly score: Score | null;
  readonly offersDraw: boolean;
}

/** The earlier positions of a state; empty for a view in place of a state, to which a page applies the move of its player before the referee answers. */
const positionsOf = ({ positions }: Partial<Pick<ChessState, "positions">>): readonly string[] => positions ?? [];

/** Returns the state after a move that the board has made. */
function stateAfter(before: ChessState, board: Chess, { move, score, offersDraw }: Played): ChessState {
  const fen = board.fen();
  const clock = Number(fen.split(" ", 5)[4]);
  // The clock is 0 after a pawn move or a capture: no earlier position can occur again.
  const positions = [...(clock === 0 ? [] : positionsOf(before)), positionKey(fen)];
  const { ends_at, turn, draw_offer } = before;
  const adjudication = before.adjudication && afterScore(before.adjudication, turn, score);
  const isLast = ends_at !== undefined && plyOf(fen) >= ends_at;
  const outcome =
    outcomeOf(board, turn, fen, positions, clock) ??
    (adjudication ? adjudicatedResult(adjudication, turn, moveNumberOf(before.fen)) : null) ??
    (isLast ? MOVE_LIMIT : null);
  return {
    fen,
    turn: turnOf(fen),
    outcome,
    moves: [...(before.moves ?? []), move],
    positions,
    ...(ends_at !== undefined && { ends_at }),
    ...(adjudication && { adjudication }),
    ...(draw_offer !== undefined && { draw_offer: offersDraw ? turn : null }),
  };
}

const NO_OFFER = "your opponent has not offered a draw";
const MOVE_LIMIT: ChessOutcome = { winner: null, reason: "move_limit" };

/** The result of a game; `winner` is null for a draw. */
interface ChessOutcome {
  readonly winner: Color | null;
  readonly reason:
    | "checkmate"
    | "stalemate"
    | "insufficient_material"
    | "threefold_repetition"
    | "fifty_moves"
    | "move_limit"
    | "resignation"
    | "draw_adjudicated"
    | "draw_agreed";
}

const FIFTY_MOVES_PLIES = 100;

/** Returns the number of plies before a position, if its FEN counts moves from the beginning. */
const plyOf = (fen: string): number => 2 * moveNumberOf(fen) - (turnOf(fen) === "white" ? 2 : 1);

const moveNumberOf = (fen: string): number => Number(fen.split(" ", 6)[5]);

const turnOf = (fen: string): Color => (fen.split(" ", 2)[1] === "w" ? "white" : "black");

/**
 * Returns the parts that make two positions the same: placement, side to move, castling and en passant (FIDE Laws,
 * 9.2.3).
 */
const positionKey = (fen: string): string => fen.split(" ", 4).join(" ");

/**
 * Returns the outcome of a position, or null. Checkmate takes precedence over every draw (FIDE Laws, 5.1.1 and 9.6.2).
 */
function outcomeOf(
  board: Chess,
  mover: Color,
  fen: string,
  positions: readonly string[],
  clock: number,
): ChessOutcome | null {
  if (!hasMove(board, fen)) {
    return board.inCheck() ? { winner: mover, reason: "checkmate" } : { winner: null, reason: "stalemate" };
  }
  // Only a capture or a promotion can lead to insufficient material.
  if (clock === 0 && board.isInsufficientMaterial()) return { winner: null, reason: "insufficient_material" };
  const key = positions.at(-1);
  if (positions.filter((position) => position === key).length >= 3)
    return { winner: null, reason: "threefold_repetition" };
  return clock >= FIFTY_MOVES_PLIES ? { winner: null, reason: "fifty_moves" } : null;
}

/** The part of a view that its text shows. */
interface ShownPosition {
  readonly fen: string;
  readonly turn: string;
  readonly outcome: { readonly winner: string | null; readonly reason: string } | null;
  readonly draw_offer?: string | null;
}

/** Returns a position as text: the board with coordinates, the side to move or the result, and the FEN. */
function textOf({ fen, turn, outcome, draw_offer }: ShownPosition): string {
  const rows = (fen.split(" ", 1)[0] ?? "").split("/").map((rank, index) => {
    const cells = rank.replace(/\d/g, (n) => ".".repeat(Number(n)));
    return `${8 - index}  ${[...cells].join(" ")}`;
  });
  const end =
    outcome && `The game is over: ${outcome.winner ? `${outcome.winner} wins` : "draw"} by ${outcome.reason}.`;
  const offer = draw_offer && !outcome ? ` ${draw_offer} offers a draw.` : "";
  return [...rows, "   a b c d e f g h", end ?? `${turn} to move.${offer}`, fen].join("\n");
}
