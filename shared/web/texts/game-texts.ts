import { reasonInWords, spoken, winnersInWords } from "../../games/game.ts";
import { type Color, checkedKing, moveInWords, piecesOf } from "../boards/chess-squares.ts";
import type { GameFacts } from "../game-facts.ts";
import { type GameView, GUEST, nameInWords, type PlayerView, type Restart } from "../game-view.ts";
import { faultsInWords } from "./fault-texts.ts";

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
export function nameOf({ players }: Named, role: string): string {
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
