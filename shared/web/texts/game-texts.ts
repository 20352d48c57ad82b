import { reasonInWords, spoken, winnersInWords } from "#shared/games/game.ts";
import { type Color, checkedKing, moveInWords, piecesOf } from "#shared/web/boards/chess-squares.ts";
import {
  type GameFacts,
  type GameView,
  GUEST,
  nameInWords,
  type PlayerView,
  type Restart,
} from "#shared/web/game-view.ts";

/** A game with the names of its players. */
interface Named {
  readonly players: Readonly<Record<string, { readonly name: string }>>;
}
type Finished = Named & Pick<GameView, "result">;
/** The facts about the game; undefined for a game that the server does not list. */
type Facts = GameFacts | undefined;

/** Returns whose turn it is, for the person in `role`; "" when the game is over. */
export function turnInWords(game: GameView, role: string): string {
  if (game.status === "completed") return "";
  if (game.status === "waiting_for_players") return missingInWords(game);
  if (game.to_act.includes(role)) return "Your move";
  const waiting = game.to_act.map((name) => nameOf(game, name)).join(" and ");
  return role === "spectator" ? `${waiting} to move` : `Waiting for ${waiting}`;
}

/** Returns the roles for which a game waits before it begins. */
function missingInWords({ roles, players }: GameView): string {
  const absent = roles.filter((role) => players[role]?.joined === false);
  return absent.length > 0
    ? `Waiting for ${absent.map(roleInSentence).join(" and ")} to join`
    : "Waiting for the players to accept the invitation";
}

/** Returns how a finished game ended; "" while it is active. */
export function resultInWords(game: Finished, facts: Facts): string {
  const { result } = game;
  if (result === null) return "";
  const { winners, termination } = result;
  const reason = reasonInWords(result.reason);
  if (termination === "aborted" || termination === "expired") return withReason(termination, reason);
  const explanation = termination === "forfeit" ? `forfeit, ${faultsInWords(result.reason)}` : reason;
  // If all sides have forfeited, the result is not a draw.
  if (winners.length === 0) return withReason(termination === "forfeit" ? "no winner" : "draw", explanation);
  const winner = winnersInWords(facts?.teams, winners, (role) => nameOf(game, role));
  if (result.reason === "clock") return `${winner} wins on time`;
  return reason === "resigned" ? `${winner} wins by resignation` : `${winner} wins: ${explanation}`;
}

/** Returns a result with its reason, "Draw: stalemate", or the result only if the reason is the same. */
const withReason = (result: string, reason: string): string =>
  result === reason ? capitalized(result) : `${capitalized(result)}: ${reason}`;

/** Returns the name of a player who may not have joined. An agent without a name may also be a program that plays over REST. */
export function playerInWords(player: PlayerView | undefined): string {
  if (!player?.joined) return "not joined yet";
  return player.kind === "agent" && player.name === "agent" ? "a program" : nameInWords(player);
}

/** Returns a role as people write it at the start of a line: "Red spymaster", "Odd". */
export const roleInWords = (role: string): string => capitalized(roleInSentence(role));

/** Returns a role as people write it inside a sentence: "red spymaster", "odd", "X". */
export const roleInSentence = (role: string): string => {
  if (role.length === 1) return role.toUpperCase();
  return role === role.toUpperCase() ? role.toLowerCase() : spoken(role);
};

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns the name of a player with its role, "white (Ann)", or only the role if the player has no name. */
function nameOf({ players }: Named, role: string): string {
  const name = players[role]?.name;
  return name && name !== role && name !== GUEST ? `${roleInSentence(role)} (${name})` : roleInSentence(role);
}

/** Returns an action as text for people: a chess move in words, any other action unchanged. */
function actionInWords(game: GameView, action: unknown, facts: Facts): string {
  if (typeof action === "object" && action !== null)
    return Object.values(action)
      .map((part) => spoken(String(part)))
      .join(" ");
  if (typeof action !== "string") return String(action);
  if (facts?.board !== "chess") return action;
  const position = chessPosition(game);
  return position ? moveInWords(action, piecesOf(position.fen)) : action;
}

/** Returns the text that a screen reader announces after a change of the game. */
export function announcement(game: GameView, role: string, facts: Facts): string {
  const { last_action } = game;
  const moved = last_action
    ? [`${roleInSentence(last_action.role)}: ${actionInWords(game, last_action.action, facts)}.`]
    : [];
  const parts = [...moved, isCheck(game, facts) ? "Check." : "", resultInWords(game, facts), turnInWords(game, role)];
  return parts.filter((part) => part !== "").join(" ");
}

function isCheck({ status, state }: GameView, facts: Facts): boolean {
  if (facts?.board !== "chess" || status !== "active") return false;
  const position = chessPosition({ state });
  return position !== null && checkedKing(piecesOf(position.fen), position.turn) !== null;
}

/** Returns the state of a chess game; null if it is none, which the view of another program's referee may contain. */
function chessPosition({ state }: Pick<GameView, "state">): { readonly fen: string; readonly turn: Color } | null {
  const { fen, turn } = (state ?? {}) as { readonly fen?: unknown; readonly turn?: unknown };
  return typeof fen === "string" && (turn === "white" || turn === "black") ? { fen, turn } : null;
}

/** Returns why a match has begun again: "Attempt 2: the match began again from the start, because REF01 did not answer." */
export const restartInWords = ({ attempt, reason }: Restart): string =>
  `Attempt ${attempt}: the match began again from the start${reason === null ? "" : `, because ${reason}`}.`;

/** The causes of faults as people read them on all pages. */
export const FAULT_TEXTS: Readonly<Record<string, string>> = {
  refused: "The player could not be reached",
  timeout: "No answer in time",
  clock: "The clock ran out",
  http_error: "The player answered with an HTTP error",
  bad_json: "The answer was not JSON",
  bad_reply: "The answer did not follow the protocol",
  bot_error: "The bot failed with an error",
  too_large: "The answer was too large",
  illegal_move: "Illegal moves",
  declined: "The invitation was declined",
  resigned: "Resignation",
};

/** Returns the cause of a fault in words. Referees of other projects may have other causes. */
export const faultInWords = (cause: string): string =>
  (Object.hasOwn(FAULT_TEXTS, cause) ? FAULT_TEXTS[cause] : undefined) ?? spoken(cause);

/** Returns the causes in the reason of a forfeit, for the middle of a sentence: "no answer in time, illegal moves". */
const faultsInWords = (reason: string): string =>
  [...new Set(reason.split(","))]
    .map(faultInWords)
    .map((text) => text.charAt(0).toLowerCase() + text.slice(1))
    .join(", ");

/** The end of a game as a person sees it. */
interface End {
  /** "You won", "Draw" */
  readonly title: string;
  /** Why, as a sentence without a full stop. */
  readonly reason: string;
  readonly tone: "win" | "loss" | "draw" | "none";
}

/** The reasons of ends in words. A reason that is not listed is shown by its own words. */
const REASONS: Readonly<Record<string, string>> = {
  ...FAULT_TEXTS,
  checkmate: "Checkmate",
  stalemate: "Stalemate: no legal move, and no check",
  insufficient_material: "Neither side has enough pieces to give checkmate",
  threefold_repetition: "The same position for the third time",
  fifty_moves: "Fifty moves without a capture or a pawn move",
  move_limit: "The limit of moves was reached",
  draw_agreed: "The players agreed to a draw",
  draw_adjudicated: "Both engines saw an equal position",
  resignation: "Resignation",
  three_in_a_row: "Three in a row",
  four_in_a_row: "Four in a row",
  board_full: "The board is full",
  rounds_won: "More rounds won",
  chips_won: "More chips won",
  draw: "Equal scores",
  agents_found: "All agents of the team were found",
  assassin: "The assassin was guessed",
  bot_failed: "The bot stopped working",
  expired: "No player moved within the time limit",
};

/** The reasons that have other words for a loser. */
const REASONS_OF_LOSS: Readonly<Record<string, string>> = {
  rounds_won: "Fewer rounds won",
  chips_won: "Fewer chips won",
};

/** Returns the end of a finished game for the person in `role`; null while it is active. */
export function endInWords(game: GameView, role: string, facts: GameFacts | undefined): End | null {
  const { result } = game;
  if (result === null) return null;
  const { winners, termination } = result;
  const reason = reasonsInWords(result.reason);
  if (termination === "expired") return { title: "The game has expired", reason, tone: "none" };
  if (termination === "aborted") return { title: "The game was stopped", reason, tone: "none" };
  // If all sides have forfeited, the result is not a draw.
  if (winners.length === 0)
    return termination === "forfeit"
      ? { title: "No winner", reason, tone: "none" }
      : { title: "Draw", reason, tone: "draw" };
  const isPlayer = game.roles.includes(role);
  if (isPlayer && winners.includes(role))
    return { title: winners.length > 1 ? "Your team won" : "You won", reason, tone: "win" };
  if (isPlayer) {
    const title = winners.length > 1 ? "Your team lost" : "You lost";
    return { title, reason: REASONS_OF_LOSS[result.reason] ?? reason, tone: "loss" };
  }
  const winner = winnersInWords(facts?.teams, winners, (name) => nameOf(game, name));
  return { title: `${capitalized(winner)} won`, reason, tone: "none" };
}

const reasonsInWords = (reason: string): string =>
  [...new Set(reason.split(",").map((one) => REASONS[one] ?? capitalized(reasonInWords(one))))].join(", ");

/** Clocks below this time are shown with tenths of a second. */
const TENTHS_BELOW_MS = 20_000;

/** Returns the time until the text of a running clock changes: at most a second, or a tenth while tenths are shown. */
export const clockStepMs = (ms: number): number => (ms % (ms < TENTHS_BELOW_MS ? 100 : 1_000)) + 1;

/** Returns the time on a clock, for example `1:05`, `1:02:09` or `0:09.5`. Parts of a second are rounded down, so that 0:00 is shown at the end only. */
export function clockInWords(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = String(Math.floor(seconds / 60) % 60);
  const rest = String(seconds % 60).padStart(2, "0");
  const tenths = ms < TENTHS_BELOW_MS ? `.${Math.floor((ms % 1000) / 100)}` : "";
  return `${hours > 0 ? `${hours}:${minutes.padStart(2, "0")}` : minutes}:${rest}${tenths}`;
}
