import { type Game, reasonInWords, spoken, winnersInWords } from "#shared/games/game.ts";
import { listName, wordOf } from "#shared/games/move-text.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { Next } from "../../views/game-view.ts";

/** A game as text, for a model or for a person whose MCP host shows no board. */
export function inWords(view: GameView, next: Next, game: Game | undefined): string {
  const { last_action: last, legal_actions: legal } = view;
  const moved = last && `Last move: ${last.role} ${wordOf(last.action, game)} (tick ${last.tick}).`;
  const moves = legal.length > 0 && `${listName(game)}: ${legal.map((action) => wordOf(action, game)).join(", ")}`;
  return [headline(view, next, game), moved, board(view), moves, advice(view, next)].filter(Boolean).join("\n\n");
}

interface SeatSecrets {
  readonly game_id: string;
  readonly seat_token: string;
  /** The links of people, by role. */
  readonly links: Readonly<Record<string, string>>;
  /** Roles of people whose links the agent does not receive. */
  readonly withheld?: readonly string[] | undefined;
}

/** The text for an agent that has taken a seat: its secret, the links of people and the rules. */
export function seatText(
  { game_id, seat_token, links, withheld = [] }: SeatSecrets,
  page: string,
  game: Game | undefined,
): string {
  const people = Object.entries(links);
  const pages = people.map(
    ([role, link]) => `Give the person who plays ${spoken(role)} this link to move in a browser: ${link}`,
  );
  if (withheld.length > 0) pages.push(withheldSeats(withheld));
  const rules = game?.info.rules;
  const watch = `Page of the game, where anyone can watch it: ${page}`;
  return [
    `Game ${game_id}. Your seat_token (secret, shown once): ${seat_token}`,
    watch,
    ...pages,
    rules && `\n${rules}`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** Explains why the agent does not receive the links of these people. */
function withheldSeats(roles: readonly string[]): string {
  const names = roles.map(spoken).join(" and ");
  return roles.length === 1
    ? `A person plays ${names}. That seat sees information that you may not know, so its link is not shown here: it is printed in the terminal of this host.`
    : `People play ${names}. Those seats see information that you may not know, so their links are not shown here: they are printed in the terminal of this host.`;
}

/** The board in a code block, so that files and ranks stay aligned. */
const board = ({ board }: GameView): string => `\`\`\`\n${board}\n\`\`\``;

function headline(view: GameView, next: Next, game: Game | undefined): string {
  const { name, your_role: role } = view;
  const others = view.to_act
    .filter((actor) => actor !== role)
    .map((actor) => `${actor} (${view.players[actor]?.name})`);
  switch (next) {
    case "your_turn":
      return `Your turn: you are ${role} in ${name}.`;
    case "waiting_for_user":
      return `Waiting for User: ${others.join(", ")} has to move. You are ${role} in ${name}.`;
    case "waiting_for_opponent":
      if (view.status === "waiting_for_players") return `Waiting for players. You are ${role} in ${name}.`;
      return `Waiting for ${others.join(" and ") || "the other side"}. You are ${role} in ${name}.`;
    case "game_over":
      return `The game is over: ${ending(view, game)}`;
  }
}

function ending({ result, your_role: role }: GameView, game: Game | undefined): string {
  if (!result) return "";
  const { winners } = result;
  const reason = reasonInWords(result.reason);
  if (winners.length === 0) return `no winner (${reason}).`;
  const verdict = role === "spectator" ? "" : winners.includes(role) ? "You have won." : "You have lost.";
  const how = reason === "resigned" ? "by resignation" : `(${reason})`;
  return `${winnersInWords(game?.info.teams, winners)} wins ${how}. ${verdict}`;
}

function advice(view: GameView, next: Next): string | null {
  switch (next) {
    case "your_turn":
      return "Choose one of the legal moves and call finishTurn.";
    case "waiting_for_user":
      return "The person moves on the board or on the page of the game. Inform them that it is their turn; when they have moved, call waitForNextTurn again.";
    case "waiting_for_opponent": {
      const open = view.roles.filter((role) => view.players[role]?.joined === false);
      const vacant = `No player has joined as ${open.join(" or ")} yet: another agent can join with joinGame {"game_id": "${view.game_id}"}. `;
      return `${open.length > 0 ? vacant : ""}Call waitForNextTurn to wait for your turn.`;
    }
    case "game_over":
      return null;
  }
}

/** The text of a wait that has timed out. Without an explanation, models treat a timeout as a failure. */
export const timedOut = (timeoutS: number): string =>
  `Timeout: nothing has happened for ${timeoutS} seconds. This is normal, the game continues: call waitForNextTurn again immediately, with the same arguments.`;
