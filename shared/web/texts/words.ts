import { reasonInWords, spoken, winnersInWords } from "../../games/game.ts";
import { type Color, checkedKing, moveInWords, piecesOf } from "../boards/chess-squares.ts";
import type { GameFacts } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";

/** Role to whoever plays it. */
interface Named {
  readonly players: Readonly<Record<string, { readonly name: string }>>;
}
type Finished = Named & Pick<GameView, "result">;
/** Absent for a game that the server does not list. */
type Facts = GameFacts | undefined;

/** Whose turn it is, for the person in `role`; "" when the game is over. */
export function turnInWords(game: GameView, role: string): string {
  if (game.status === "completed") return "";
  if (game.status === "waiting_for_players") return missingInWords(game);
  if (game.to_act.includes(role)) return "Your move";
  const waiting = game.to_act.map((one) => nameOf(game, one)).join(" and ");
  return role === "spectator" ? `${waiting} to move` : `Waiting for ${waiting}`;
}

/** Whom a game that has not begun waits for. */
function missingInWords({ roles, players }: GameView): string {
  const absent = roles.filter((role) => players[role]?.joined === false);
  return absent.length > 0
    ? `Waiting for ${absent.map(spoken).join(" and ")} to join`
    : "Waiting for the players to accept the invitation";
}

/** How a finished game ended; "" while it goes on. */
export function resultInWords(game: Finished, facts: Facts): string {
  const { result } = game;
  if (result === null) return "";
  const { winners, termination } = result;
  const reason = reasonInWords(result.reason);
  if (termination === "aborted" || termination === "expired") return because(termination, reason);
  const how = termination === "forfeit" ? `forfeit, ${reason}` : reason;
  // Where all have forfeited nobody has drawn.
  if (winners.length === 0) return because(termination === "forfeit" ? "nobody wins" : "draw", how);
  const who = winnersInWords(facts?.teams, winners, (role) => nameOf(game, role));
  return reason === "resigned" ? `${who} wins by resignation` : `${who} wins: ${how}`;
}

/** "Draw: stalemate", and "Draw" alone where the reason says no more. */
const because = (what: string, reason: string): string =>
  what === reason ? capital(what) : `${capital(what)}: ${reason}`;

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** "white (Ann)", or the role alone for a player without a name. */
export function nameOf({ players }: Named, role: string): string {
  const name = players[role]?.name;
  return name && name !== role ? `${spoken(role)} (${name})` : spoken(role);
}

/** An action as people read it: a chess move in words, else the action itself. */
function actionInWords(game: GameView, action: unknown, facts: Facts): string {
  if (typeof action === "object" && action !== null)
    return Object.values(action)
      .map((part) => spoken(String(part)))
      .join(" ");
  if (typeof action !== "string") return String(action);
  if (facts?.board !== "chess") return action;
  return moveInWords(action, piecesOf((game.state as { fen: string }).fen));
}

/** What a screen reader is told when a game has gone on. */
export function newsInWords(game: GameView, role: string, facts: Facts): string {
  const { last_action } = game;
  const moved = last_action ? [`${spoken(last_action.role)}: ${actionInWords(game, last_action.action, facts)}.`] : [];
  const said = [...moved, isCheck(game, facts) ? "Check." : "", resultInWords(game, facts), turnInWords(game, role)];
  return said.filter((part) => part !== "").join(" ");
}

function isCheck({ status, state }: GameView, facts: Facts): boolean {
  if (facts?.board !== "chess" || status !== "active") return false;
  const { fen, turn } = state as { fen: string; turn: Color };
  return checkedKing(piecesOf(fen), turn) !== null;
}
