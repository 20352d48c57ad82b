/** The results of the tools for games outside of leagues: structured content, text and the board. */
import type { Role } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import type { Content, ToolResult } from "#shared/rpc/mcp/mcp.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import { type GameView, USER_SEAT_META, type UserSeat } from "#shared/web/game-view.ts";
import type { StoredSession } from "../../sessions/live-sessions.ts";
import type { PersonSeat } from "../../sessions/seats.ts";
import type { Next } from "../../views/game-view.ts";
import type { TakenSeat } from "../creation.ts";
import type { Play } from "../play.ts";
import type { GameToolsContext } from "./context.ts";
import type { Shown, Taken } from "./schemas.ts";
import { inWords, seatText } from "./texts.ts";

/** The structured content of a game for a role. */
export const shownGame = (play: Play, stored: StoredSession, role: Role, next: Next): Shown =>
  ({ ...play.view(stored, role), next }) as Shown;

/** The result for an agent that has just taken a seat. */
export async function takenGame({ play, turns }: GameToolsContext, { gameId, role, token }: TakenSeat): Promise<Taken> {
  const seat = play.userSeat(gameId, role);
  const waited = await turns.wait(gameId, token, { timeoutMs: 0 });
  if (!waited.ok) throw new Error(waited.error.message);
  const { stored, next } = waited.value;
  const people = Object.entries(play.personLinks(gameId, role));
  const links = Object.fromEntries(people.flatMap(([person, link]) => (link === null ? [] : [[person, link]])));
  const link = (seat && links[seat.role]) ?? play.link(gameId);
  const withheld = people.flatMap(([person, link]) => (link === null ? [person] : []));
  const secrets = { seat_token: token, link, links, ...(withheld.length > 0 && { withheld }) };
  return { ...shownGame(play, stored, role, next), ...secrets };
}

/** The text of a result, and the seat of the person for the board in an MCP Apps host. */
export function gameContent(
  play: Play,
  value: Shown,
  caller: Caller,
  lead?: string,
): Pick<ToolResult, "content" | "_meta"> {
  const seat = userSeat(play, value, caller);
  return {
    content: [
      {
        type: "text",
        text: [lead, inWords(value as GameView, value.next, findGame(value.template))].filter(Boolean).join("\n\n"),
      },
    ],
    ...(seat && { _meta: { [USER_SEAT_META]: seat } }),
  };
}

/** The text of a result for an agent that has just taken a seat. */
export const takenContent = (play: Play, value: Taken, caller: Caller) =>
  gameContent(play, value, caller, seatText(value, play.link(value.game_id), findGame(value.template)));

/** The board as an HTML resource, with the person's seat if there is one. */
export async function boardContent({ play, embeddedBoard }: GameToolsContext, value: Shown): Promise<Content> {
  const seat = play.userSeat(value.game_id, value.your_role);
  const view = (seat && personView(play, value, seat)) ?? (value as GameView);
  // An agent reads the page, so it must not contain a seat that sees more than the seat of the agent.
  const holder = seat && !seat.isWithheld ? { role: seat.role, token: seat.token } : null;
  const text = await embeddedBoard(view, holder);
  const uri = `ui://agent-league/game/${value.game_id}`;
  return { type: "resource", resource: { uri, mimeType: "text/html", text } };
}

/** The seat of the person for the board of an MCP Apps host, which does not pass it to the model. Other callers receive no withheld seat. */
function userSeat(play: Play, value: Shown, { showsApps }: Caller): UserSeat | null {
  const seat = play.userSeat(value.game_id, value.your_role);
  if (seat === null || (seat.isWithheld && !showsApps)) return null;
  const view = personView(play, value, seat);
  return view ? { role: seat.role, token: seat.token, view } : null;
}

/** The view of the board that the host of an agent shows to its user. The agent receives it too, so it contains no information that only the person may know. */
function personView(play: Play, value: Shown, { token }: PersonSeat): GameView | undefined {
  const isHidden = findGame(value.template)?.info.hiddenInformation;
  const access = play.accessTo(value.game_id, isHidden ? null : token);
  return access ? play.view(access.stored, access.viewer) : undefined;
}
