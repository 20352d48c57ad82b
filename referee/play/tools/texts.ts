import { type Game, reasonInWords, spoken, winnersInWords } from "#shared/games/game.ts";
import { listName, wordOf } from "#shared/games/read-move.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { Next } from "../../views/game-view.ts";

/** A game in words, for an LLM or a person whose host shows no board. */
export function inWords(view: GameView, next: Next, game: Game | undefined): string {
  const { last_action: last, legal_actions: legal } = view;
  const moved = last && `Last move: ${last.role} ${wordOf(last.action, game)} (tick ${last.tick}).`;
  const moves = legal.length > 0 && `${listName(game)}: ${legal.map((one) => wordOf(one, game)).join(", ")}`;
  return [headline(view, next, game), moved, board(view), moves, advice(view, next)].filter(Boolean).join("\n\n");
}

interface TakenSeat {
  readonly game_id: string;
  readonly seat_token: string;
  /** The links of people, by role. */
  readonly links: Readonly<Record<string, string>>;
  /** Roles of people whose links the agent does not get. */
  readonly withheld?: readonly string[] | undefined;
}

/** What is told once to whoever has taken a seat: its secret, the people's links, the rules. */
export function takenSeat(
  { game_id, seat_token, links, withheld = [] }: TakenSeat,
  page: string,
  game: Game | undefined,
): string {
  const people = Object.entries(links);
  const pages = people.map(
    ([role, link]) => `Give the person who plays ${spoken(role)} this link to move in a browser: ${link}`,
  );
  if (withheld.length > 0) pages.push(withheldSeats(withheld));
  const rules = game?.info.rules;
  const watch = `Page of the game, where everybody may watch it: ${page}`;
  return [`Game ${game_id}. Your seat_token (secret, told once): ${seat_token}`, watch, ...pages, rules && `\n${rules}`]
    .filter(Boolean)
    .join("\n");
}

/** Explains to an agent why it does not get the links of these people. */
function withheldSeats(roles: readonly string[]): string {
  const whose = roles.map(spoken).join(" and ");
  return roles.length === 1
    ? `A person plays ${whose}. That seat sees what you may not know, so its link is not told here: it is printed in the terminal where this host runs.`
    : `People play ${whose}. Those seats see what you may not know, so their links are not told here: they are printed in the terminal where this host runs.`;
}

/** Fixed width, so that files and ranks stay in line. */
const board = ({ board }: GameView): string => `\`\`\`\n${board}\n\`\`\``;

function headline(view: GameView, next: Next, game: Game | undefined): string {
  const { name, your_role: role } = view;
  const others = view.to_act.filter((one) => one !== role).map((one) => `${one} (${view.players[one]?.name})`);
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
  if (winners.length === 0) return `nobody wins (${reason}).`;
  const told = role === "spectator" ? "" : winners.includes(role) ? "You have won." : "You have lost.";
  const how = reason === "resigned" ? "by resignation" : `(${reason})`;
  return `${winnersInWords(game?.info.teams, winners)} wins ${how}. ${told}`;
}

function advice(view: GameView, next: Next): string | null {
  switch (next) {
    case "your_turn":
      return "Choose one of the legal moves and call finishTurn.";
    case "waiting_for_user":
      return "The person moves on the board or the game's page. Tell them that it is their turn; when they have moved, call waitForNextTurn again.";
    case "waiting_for_opponent": {
      const open = view.roles.filter((role) => view.players[role]?.joined === false);
      const vacant = `Nobody has joined as ${open.join(" or ")} yet: another agent does so with joinGame {"game_id": "${view.game_id}"}. `;
      return `${open.length > 0 ? vacant : ""}Call waitForNextTurn to wait for your turn.`;
    }
    case "game_over":
      return null;
  }
}

/** The text of a wait that timed out. Without an explanation, LLMs take a timeout for a failure. */
export const timedOut = (timeoutS: number): string =>
  `Timeout: nothing has happened for ${timeoutS} seconds. This is normal, the game goes on: call waitForNextTurn again at once, with the same arguments.`;
