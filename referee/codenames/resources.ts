import type { CodenamesView } from "#shared/games/codenames-view.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Resource, ResourceTemplate } from "#shared/rpc/mcp/mcp.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import { driverView, seatView } from "../views/session-views.ts";
import type { Director } from "./director.ts";
import { publicBoard } from "./led-games.ts";
import { history } from "./questions.ts";
import type { LedGame } from "./table.ts";

const NAMES = ["game://state/board", "game://state/history", "game://context/current-role"] as const;
const TEXTS = {
  "game://state/board": {
    name: "Codenames: board",
    description: "The words of the game and the uncovered cards, in the public view.",
  },
  "game://state/history": { name: "Codenames: history", description: "The clues and guesses of the game." },
  "game://context/current-role": {
    name: "Codenames: current role",
    description:
      "The role that is to act and its view. It contains the key only while a person who plays a spymaster is to act.",
  },
} as const;

/** The resources of the game of the caller, and the templates for the game whose token is the last part of the URI. */
export function codenamesResources(director: Director): {
  resources: readonly Resource[];
  templates: readonly ResourceTemplate[];
} {
  const content = (uri: (typeof NAMES)[number], game: LedGame | null): object | null => {
    if (!game) return null;
    const session = director.session(game.sessionId);
    const { tick, status } = session;
    const { state, board } = publicBoard(session);
    const view = state as CodenamesView;
    const summary = { game_id: game.sessionId, status, tick, phase: view.phase, turn: view.turn };
    switch (uri) {
      case "game://state/board":
        return { ...summary, ...view, board };
      case "game://state/history":
        return { ...summary, turns: view.turns, text: history(view) };
      case "game://context/current-role": {
        const role = driverView(session).toAct[0] ?? null;
        const type = role === null ? null : (game.players[role] ?? null);
        // A model that plays a spymaster receives the key only in its prompt.
        const shown = role !== null && type === "user" ? seatView(session, role) : { state, board };
        return { ...summary, role, player_type: type, view: shown.state, board: shown.board };
      }
    }
  };
  const none = {
    open: false,
    message: "There is no game of Codenames for this caller: append /{game_token} to the URI, or call create_new_game",
  };
  return {
    resources: NAMES.map((uri) => ({
      uri,
      ...TEXTS[uri],
      read: (http) => content(uri, director.gameOf(undefined, asCaller(http))) ?? none,
    })),
    templates: NAMES.map((uri) => ({
      uriTemplate: `${uri}/{game_token}`,
      ...TEXTS[uri],
      read: ({ game_token = "" }) => content(uri, director.gameOf(game_token, ANONYMOUS)),
    })),
  };
}

/** The resources that an action in a game of Codenames has changed. */
export const codenamesChanged = (token: string): readonly string[] => NAMES.flatMap((uri) => [uri, `${uri}/${token}`]);

const ANONYMOUS: Caller = { sender: null, authToken: null, remoteAddress: "" };

const asCaller = ({ bearer, remoteAddress, sessionId }: HttpContext): Caller => ({
  sender: null,
  authToken: bearer,
  remoteAddress,
  sessionId,
});
