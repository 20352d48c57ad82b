/** All interfaces by which a game of a session host can be read. None of these requests changes the game. */
import { rpcResourceRead } from "#shared/rpc/testing/json-rpc.ts";
import type { TestHost } from "../../rest/testing/host.ts";
import { tool, watchStream } from "./play.ts";
import { watchSocket } from "./socket.ts";

/** The kind of hidden information: a choice of an open turn, a dealt card, the key of Codenames, or the seed of a league match. */
export type Hidden = "choice" | "card" | "key" | "seed";

/**
 * The callers that a surface answers: holders of a seat, agents with a token, or all callers. A public surface shows all callers the view of a
 * spectator. A surface without readers shows no view.
 */
export type Readers = "seats" | "agents" | "all" | "public" | "none";

/** A session host, or the referee of a league match. */
export type Place = Pick<TestHost, "url" | "call">;

interface Surface {
  readonly readers: Readers;
  /** The hidden information that it shows to viewers that may know it, and to all readers when it is no longer hidden. */
  readonly shows: readonly Hidden[];
}

/** A surface that one request reads. */
export interface RequestSurface extends Surface {
  read(host: Place, gameId: string, token: string | null): Promise<string>;
}

/** The events of a stream or of a WebSocket. */
export type Stream = Pick<Awaited<ReturnType<typeof watchStream>>, "next" | "raw" | "close">;

/** A stream of server-sent events or a WebSocket, opened before a choice is made or while it is sealed. */
interface StreamSurface extends Surface {
  readonly opened: "before" | "sealed";
  open(host: Place, gameId: string, token: string | null): Promise<Stream>;
}

const STATE: readonly Hidden[] = ["choice", "card", "key"];
const NOTHING: readonly Hidden[] = [];

const http =
  (method: "GET" | "POST", path: string, body?: object): RequestSurface["read"] =>
  async (host, gameId, token) => {
    const as = token === null ? {} : { token };
    const { status, text } = await host.call(method, path.replace("ID", gameId), { ...as, ...(body && { body }) });
    return `${status} ${text}`;
  };

const mcp =
  (name: string, args: object, more: { tokenIs?: "seat_token" | "auth_token"; idIs?: "game_id" | "match_id" } = {}) =>
  async (host: Place, gameId: string, token: string | null): Promise<string> => {
    const { tokenIs = "seat_token", idIs = "game_id" } = more;
    return (await tool(host, name, { [idIs]: gameId, ...(token !== null && { [tokenIs]: token }), ...args })).raw;
  };

const resource =
  (uri: string): RequestSurface["read"] =>
  async (host, gameId, token) => {
    const body = rpcResourceRead(uri.replace("ID", gameId));
    const headers = { "content-type": "application/json" };
    return (await host.call("POST", "/mcp", { body, headers, ...(token !== null && { token }) })).text;
  };

/** The frames of a WebSocket of a session up to the reply to a rejected action. */
const rejectedOnSocket: RequestSurface["read"] = async (host, gameId, token) => {
  const socket = await watchSocket(host, SOCKET.replace("ID", gameId), token);
  if ((await socket.next()) !== null) {
    socket.send({ id: 1, action: "no such move", expected_tick: 99 });
    await socket.reply();
  }
  socket.close();
  return socket.raw();
};

/** The entry of one game in the list of games. The other entries may change between two requests. */
const listed: RequestSurface["read"] = async (host, gameId) => {
  const { games } = (await host.call("GET", "/api/games")).json;
  return JSON.stringify(games.find(({ game_id }: { game_id: string }) => game_id === gameId) ?? null);
};

/** The moves of a game from the last one that the viewer knows, as a page requests them. */
const laterMoves: RequestSurface["read"] = async (host, gameId, token) => {
  const all = await http("GET", "/api/games/ID/history")(host, gameId, token);
  const { moves = [] } = JSON.parse(all.slice(all.indexOf("{")));
  const last = moves.length - 1;
  return http("GET", `/api/games/ID/history?from=${Math.max(0, last)}`)(host, gameId, token);
};

/** Values that change although the game does not. */
const VOLATILE = /^(#|process_|nodejs_|http_request_|host_event_streams|host_waiting_calls|host_sessions_in_memory)/;

/** The metrics of games. */
const metrics: RequestSurface["read"] = async (host) => {
  const { text } = await host.call("GET", "/metrics");
  return text
    .split("\n")
    .filter((line) => !VOLATILE.test(line))
    .join("\n");
};

const game = { idIs: "match_id" } as const;
const SOCKET = "/sessions/ID/socket";

export const REQUEST_SURFACES: Readonly<Record<string, RequestSurface>> = {
  "REST state": { readers: "agents", shows: STATE, read: http("GET", "/sessions/ID/state") },
  "REST long poll": {
    readers: "agents",
    shows: STATE,
    read: http("GET", "/sessions/ID/state?wait_after_tick=0&timeout_s=0"),
  },
  "REST log": { readers: "agents", shows: ["choice"], read: http("GET", "/sessions/ID/log") },
  "REST list of sessions": { readers: "agents", shows: NOTHING, read: http("GET", "/sessions") },
  "REST rejected action": {
    readers: "agents",
    shows: NOTHING,
    read: http("POST", "/sessions/ID/actions", { action: "no such move", expected_tick: 99 }),
  },
  "REST WebSocket, rejected action": { readers: "agents", shows: STATE, read: rejectedOnSocket },
  "page document": { readers: "all", shows: NOTHING, read: http("GET", "/game/ID") },
  "page data": { readers: "all", shows: STATE, read: http("GET", "/api/games/ID") },
  "page history": { readers: "all", shows: STATE, read: http("GET", "/api/games/ID/history") },
  "page history, later moves": { readers: "all", shows: STATE, read: laterMoves },
  "page invitations": { readers: "seats", shows: NOTHING, read: http("GET", "/api/games/ID/invitations") },
  "page rematch": { readers: "seats", shows: NOTHING, read: http("GET", "/api/games/ID/rematch") },
  "page rejected name": { readers: "none", shows: NOTHING, read: http("POST", "/api/games/ID/name", {}) },
  "page rejected rematch": { readers: "none", shows: NOTHING, read: http("POST", "/api/games/ID/rematch") },
  "page rejected move": {
    readers: "all",
    shows: NOTHING,
    read: http("POST", "/api/games/ID/moves", { move: "no such move", claim: "win" }),
  },
  "page list of games": { readers: "all", shows: NOTHING, read: listed },
  "tool waitForNextTurn": {
    readers: "seats",
    shows: STATE,
    read: mcp("waitForNextTurn", { timeout_s: 0, showUi: true }),
  },
  "tool finishTurn, illegal": { readers: "seats", shows: NOTHING, read: mcp("finishTurn", { move: "no such move" }) },
  "tool finishTurn, false claim": {
    readers: "seats",
    shows: NOTHING,
    read: mcp("finishTurn", { move: "rock", claim: "checkmate" }),
  },
  "tool finishTurn, claim of a win": {
    readers: "seats",
    shows: NOTHING,
    read: mcp("finishTurn", { move: 3, claim_win: true }),
  },
  "tool finishTurn, claim of a draw": {
    readers: "seats",
    shows: NOTHING,
    read: mcp("finishTurn", { move: "bet", claim: "draw" }),
  },
  "tool finishTurn, wrong tick": {
    readers: "seats",
    shows: NOTHING,
    read: mcp("finishTurn", { move: "no such move", expected_tick: 99 }),
  },
  "tool joinGame": { readers: "all", shows: NOTHING, read: mcp("joinGame", {}) },
  "tool get_game_state": {
    readers: "all",
    shows: STATE,
    read: mcp("get_game_state", {}, { ...game, tokenIs: "auth_token" }),
  },
  "tool validate_move": {
    readers: "all",
    shows: NOTHING,
    read: mcp("validate_move", { player_id: "player_1", move: "rock" }, { ...game, tokenIs: "auth_token" }),
  },
  "resource game://state": { readers: "public", shows: STATE, read: resource("game://state/ID") },
  metrics: { readers: "none", shows: NOTHING, read: metrics },
};

const events =
  (path: string, lastEventId?: string): StreamSurface["open"] =>
  (host, gameId, token) =>
    watchStream(host, path.replace("ID", gameId), token ?? undefined, lastEventId);

const socket =
  (path: string): StreamSurface["open"] =>
  (host, gameId, token) =>
    watchSocket(host, path.replace("ID", gameId), token);

const REST_EVENTS = "/sessions/ID/events";
const PAGE_EVENTS = "/api/games/ID/events";

export const STREAM_SURFACES: Readonly<Record<string, StreamSurface>> = {
  "REST events": { readers: "agents", shows: STATE, opened: "before", open: events(REST_EVENTS) },
  "REST events, new": { readers: "agents", shows: STATE, opened: "sealed", open: events(REST_EVENTS) },
  "REST events, resumed": { readers: "agents", shows: STATE, opened: "sealed", open: events(REST_EVENTS, "0") },
  "REST WebSocket": { readers: "agents", shows: STATE, opened: "before", open: socket(SOCKET) },
  "REST WebSocket, new": { readers: "agents", shows: STATE, opened: "sealed", open: socket(SOCKET) },
  "REST WebSocket, resumed": {
    readers: "agents",
    shows: STATE,
    opened: "sealed",
    open: socket(`${SOCKET}?last_event_id=0`),
  },
  "page events": { readers: "all", shows: STATE, opened: "before", open: events(PAGE_EVENTS) },
  "page events, new": { readers: "all", shows: STATE, opened: "sealed", open: events(PAGE_EVENTS) },
  "page events, resumed": { readers: "all", shows: STATE, opened: "sealed", open: events(PAGE_EVENTS, "0") },
};
