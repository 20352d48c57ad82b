/** A small player of another dialect, written for tests: a plain HTTP server whose wording, places and replies a test sets. */
import { createServer, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import type { TestPlace, TestPlayer } from "./in-process-league.ts";

// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the parsed messages
export type Json = any;

/** A message as the player has received it: the body of the request, and the message in it. */
interface Received {
  readonly path: string;
  readonly body: Json;
  readonly message: Json;
}

export interface ForeignPlayerOptions {
  readonly name: string;
  /** Returns the message in a request that the player understands; null if it answers -32601. By default tool names in `method` and the message in `params`. */
  readonly understand?: (body: Json) => Json | null;
  /** Returns the body of the registration. */
  readonly register?: (message: Json, endpoint: string) => Json;
  /** Returns the answer to an invitation, a move request or another message: the value of `result`. */
  readonly answer?: (message: Json, player: ForeignPlayer) => Json | Promise<Json>;
  /** Returns the body of a response. By default a JSON-RPC response. */
  readonly wrap?: (result: Json, body: Json) => Json;
  /** Sends a response instead of the usual way; returns false for the usual way. */
  readonly respond?: (response: ServerResponse, received: Received, player: ForeignPlayer) => boolean;
  /** The time in milliseconds after its registration at which the player begins to listen. */
  readonly listenAfterMs?: number;
  /** Returns whether the answer to the registration is accepted; the player registers again, at most five times, if it is not. */
  readonly accepts?: (registered: Json) => boolean;
  /** The dialect under which the config lists the player, which does not register then. */
  readonly dialect?: string;
  /** Returns the endpoint of the registration. */
  readonly endpoint?: (port: number) => string;
  /** Returns the place in the answer to the registration at which the player reads a field. By default `result`. */
  readonly placeOf?: (reply: Json, field: "player_id" | "auth_token") => Json;
  /** Whether the player registers and answers in HTTP 1.0: one request a connection, and a body that ends with the connection. */
  readonly isHttp10?: boolean;
}

export interface ForeignPlayer {
  readonly received: Received[];
  /** The received messages of a type. */
  of(type: string): Json[];
  /** The bodies of the answers to registrations. */
  readonly registrations: Json[];
  readonly id: string;
  readonly token: string;
  /** The endpoint of the manager at which it was started. */
  readonly manager: string;
}

const TOOLS: Readonly<Record<string, string>> = {
  handle_game_invitation: "GAME_INVITATION",
  choose_parity: "CHOOSE_PARITY_CALL",
  notify_match_result: "GAME_OVER",
  notify_round: "ROUND_ANNOUNCEMENT",
  update_standings: "LEAGUE_STANDINGS_UPDATE",
  notify_round_completed: "ROUND_COMPLETED",
  notify_league_completed: "LEAGUE_COMPLETED",
  game_move: "GAME_MOVE_CALL",
};

const understandTools = ({ method, params }: Json): Json | null =>
  method in TOOLS && params?.message_type === TOOLS[method] ? params : null;

/** The usual answers of a player of the classroom. */
export function usualAnswer(message: Json, { id, token }: Pick<ForeignPlayer, "id" | "token">): Json {
  const head = { protocol: "league.v2", sender: `player:${id}`, auth_token: token, match_id: message.match_id };
  if (message.message_type === "GAME_INVITATION") {
    return { ...head, message_type: "GAME_JOIN_ACK", player_id: id, accept: true };
  }
  if (message.message_type === "CHOOSE_PARITY_CALL") {
    return { ...head, message_type: "CHOOSE_PARITY_RESPONSE", player_id: id, parity_choice: "even" };
  }
  if (message.message_type === "GAME_MOVE_CALL") {
    const [choice] = message.move_request.valid_options;
    return { ...head, message_type: "GAME_MOVE_RESPONSE", move_data: { choice } };
  }
  return { status: "ok" };
}

const LATER_METHODS: Readonly<Record<string, string>> = {
  GAME_INVITATION: "receive_game_join_ack",
  CHOOSE_PARITY_CALL: "receive_parity_response",
};

/** Answers each request with RECEIVED, and sends the real answer later with `send`. */
const answeringLater =
  (send: (body: Json, message: Json, self: ForeignPlayer) => void) =>
  (message: Json, self: ForeignPlayer): Json => {
    const { auth_token: _, ...params } = usualAnswer(message, self);
    const method = LATER_METHODS[message.message_type];
    if (method === undefined) return params;
    send({ jsonrpc: "2.0", id: 7, method, params }, message, self);
    return { status: "RECEIVED" };
  };

/** Sends its answers later to the referee that the last announcement names for the match. */
export const laterAnswer = answeringLater((body, message, self) => {
  const announced = self.of("ROUND_ANNOUNCEMENT").flatMap(({ matches }) => matches);
  const { referee_endpoint } = announced.findLast(({ match_id }: Json) => match_id === message.match_id);
  // A referee that the test has killed refuses the connection.
  if (referee_endpoint !== null) postJson(referee_endpoint, body).catch(() => {});
});

/** Sends its answers later to the manager, and repeats them while the manager cannot be reached. */
export const laterAnswerToManager = answeringLater((body, _, { manager }) => {
  const send = (attempts: number): void =>
    void postJson(manager, body).catch(() => attempts > 1 && setTimeout(send, 200, attempts - 1));
  send(300);
});

/** Posts a JSON body. Resolves with the parsed response. */
export async function postJson(url: string, body: Json): Promise<Json> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return response.json();
}

/** Posts a JSON body as a client of HTTP 1.0, on a connection that the server closes. Resolves with the parsed response. */
async function postInHttp10(url: string, body: Json): Promise<Json> {
  const { host, hostname, port, pathname } = new URL(url);
  const content = JSON.stringify(body);
  const headers = `Host: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}`;
  const socket = connect(Number(port), hostname);
  socket.write(`POST ${pathname} HTTP/1.0\r\n${headers}\r\n\r\n${content}`);
  const response = await textOf(socket);
  return JSON.parse(response.slice(response.indexOf("\r\n\r\n")));
}

/** Ends a response. In HTTP 1.0 the body has no length and no chunks, and ends with the connection. */
function endWith(response: ServerResponse, body: string, isHttp10: boolean): void {
  if (isHttp10) response.socket?.end(`HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n${body}`);
  else response.end(body);
}

/** A registration as the classroom's document has it. */
export const usualRegistration = (message: Json): Json => ({
  jsonrpc: "2.0",
  method: "register_player",
  params: message,
  id: 1,
});

/** Creates a player for `startTestLeague`, and the record of what it receives. */
export function foreignPlayer(
  options: ForeignPlayerOptions,
): Extract<TestPlayer, { start: unknown }> & { readonly player: ForeignPlayer } {
  const state = { id: "", token: "", manager: "" };
  const received: Received[] = [];
  const registrations: Json[] = [];
  const player: ForeignPlayer = Object.assign(state, {
    received,
    registrations,
    of: (type: string) => received.flatMap(({ message }) => (message?.message_type === type ? [message] : [])),
  });
  const { understand = understandTools, answer = usualAnswer, wrap = inResult } = options;
  const { isHttp10 = false, placeOf = ({ result, ...reply }: Json): Json => result ?? reply } = options;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const end = (content: Json): void => endWith(response, JSON.stringify(content), isHttp10);
    if (text === "") return end({});
    const body = JSON.parse(text);
    const message = understand(body);
    const path = request.url ?? "";
    received.push({ path, body, message });
    if (options.respond?.(response, { path, body, message }, player)) return;
    response.setHeader("content-type", "application/json");
    if (message === null) {
      const error = { code: -32601, message: `Method not found: ${body.method}` };
      return end({ jsonrpc: "2.0", id: body.id, error });
    }
    end(wrap(await answer(message, player), body));
  });

  const start = async (place: TestPlace) => {
    const { listenAfterMs = 0 } = options;
    state.manager = place.manager;
    if (listenAfterMs === 0) await listenOnLoopback(server, place.port);
    else setTimeout(() => void listenOnLoopback(server, place.port), listenAfterMs);
    const stop = async () => void server.close().closeAllConnections();
    if (options.dialect !== undefined) return { stop };
    const endpoint = options.endpoint?.(place.port) ?? `http://127.0.0.1:${place.port}/mcp`;
    const message = {
      protocol: "league.v2",
      message_type: "LEAGUE_REGISTER_REQUEST",
      sender: "player:alpha",
      timestamp: "2025-01-15T10:05:00Z",
      conversation_id: "conv-player-alpha-reg-001",
      player_meta: {
        display_name: options.name,
        version: "1.0.0",
        game_types: ["even_odd"],
        contact_endpoint: endpoint,
      },
    };
    for (let attempt = 0; attempt < 5; attempt++) {
      const reply = await (isHttp10 ? postInHttp10 : postJson)(
        place.manager,
        (options.register ?? usualRegistration)(message, endpoint),
      );
      registrations.push(reply);
      state.id = placeOf(reply, "player_id").player_id;
      state.token = placeOf(reply, "auth_token").auth_token;
      if (options.accepts?.(reply) ?? true) break;
    }
    return { stop };
  };
  const { name, dialect } = options;
  return { name, ...(dialect !== undefined && { dialect }), start, player };
}

const inResult = (result: Json, { id }: Json): Json => ({ jsonrpc: "2.0", id, result });
