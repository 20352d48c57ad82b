import type { CodenamesView } from "#shared/games/codenames.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http.ts";
import type { Resource, ResourceTemplate } from "#shared/rpc/mcp/mcp.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import { driverView, seatView } from "../views/session-views.ts";
import type { Director } from "./director.ts";
import { publicBoard } from "./led-games.ts";
import { history } from "./questions.ts";
import type { LedGame } from "./table.ts";

const NAMES = ["game://state/board", "game://state/history", "game://context/current-role"] as const;
const ABOUT = {
  "game://state/board": {
    name: "Codenames: board",
    description: "The words of the game and what has been uncovered, as everybody may see it.",
  },
  "game://state/history": { name: "Codenames: history", description: "The clues and guesses of the game." },
  "game://context/current-role": {
    name: "Codenames: current role",
    description:
      "Whose turn it is and what that role may know. A spymaster's key is in it only while a person plays that spymaster.",
  },
} as const;

/** The resources of the caller's own game, or of the game whose token is the last part of the URI. */
export function codenamesResources(director: Director): {
  resources: readonly Resource[];
  templates: readonly ResourceTemplate[];
} {
  const content = (uri: (typeof NAMES)[number], game: LedGame | null): object | null => {
    if (!game) return null;
    const session = director.session(game.sessionId);
    const { tick, status } = session;
    const { state, board } = publicBoard(session);
    const seen = state as CodenamesView;
    const about = { game_id: game.sessionId, status, tick, phase: seen.phase, turn: seen.turn };
    switch (uri) {
      case "game://state/board":
        return { ...about, ...seen, board };
      case "game://state/history":
        return { ...about, turns: seen.turns, text: history(seen) };
      case "game://context/current-role": {
        const role = driverView(session).toAct[0] ?? null;
        const type = role === null ? null : (game.players[role] ?? null);
        // A model that plays a spymaster is told the key by its prompt alone.
        const own = role !== null && type === "user" ? seatView(session, role) : { state, board };
        return { ...about, role, player_type: type, view: own.state, board: own.board };
      }
    }
  };
  const none = {
    open: false,
    message: "No game of Codenames is here: read this with /{game_token}, or call create_new_game",
  };
  return {
    resources: NAMES.map((uri) => ({
      uri,
      ...ABOUT[uri],
      read: (http) => content(uri, director.gameOf(undefined, asCaller(http))) ?? none,
    })),
    templates: NAMES.map((uri) => ({
      uriTemplate: `${uri}/{game_token}`,
      ...ABOUT[uri],
      read: ({ game_token = "" }) => content(uri, director.gameOf(game_token, NOBODY)),
    })),
  };
}

/** The resources that an action in a game of Codenames has changed. */
export const codenamesChanged = (token: string): readonly string[] => NAMES.flatMap((uri) => [uri, `${uri}/${token}`]);

const NOBODY: Caller = { sender: null, authToken: null, remoteAddress: "" };

const asCaller = ({ bearer, remoteAddress, sessionId }: HttpContext): Caller => ({
  sender: null,
  authToken: bearer,
  remoteAddress,
  sessionId,
});
