import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";

/** What a faulty player can do wrong; `none` plays well. */
export type FaultKind =
  | "none"
  | "refuse"
  | "silent"
  | "late"
  | "http_500"
  | "not_json"
  | "not_json_rpc"
  | "text_not_json"
  | "text_no_envelope"
  | "wrong_id"
  | "illegal"
  | "illegal_once"
  | "decline"
  | "decline_telling_token"
  | "other_sender"
  | "other_request"
  | "other_match"
  | "other_tick"
  | "too_large"
  | "many_tokens"
  | "not_ascii"
  | "token_at_cut"
  | "long_move"
  | "odd_rpc_error"
  | "odd_game_error"
  | "deep_game_error"
  | "drop";

export interface FaultyPlayerOptions {
  /** null for a player that is known already. */
  readonly manager: string | null;
  readonly name: string;
  readonly port: number;
  readonly fault: FaultKind;
  /** The request that it fails at; MOVE_REQUEST if absent. */
  readonly at?: "GAME_INVITE" | "MOVE_REQUEST";
  /** How late a late answer comes. */
  readonly lateMs?: number;
  /** Whether it fails at this request; always if absent. Waited for, so that a test can hold an answer back. */
  readonly when?: (request: Asked) => boolean | Promise<boolean>;
}

export interface FaultyPlayer {
  /** Every token it was ever given or addressed with: none of them may become public. */
  readonly tokens: readonly string[];
  readonly asked: readonly Asked[];
  stop(): Promise<void>;
}

const Asked = z.looseObject({
  type: z.string(),
  message_id: z.string(),
  auth_token: z.string().optional(),
  payload: z.looseObject({
    match_id: z.string().optional(),
    tick: z.number().optional(),
    legal_actions: z.array(z.unknown()).optional(),
    your_role: z.string().optional(),
    roles: z.record(z.string(), z.string()).optional(),
    error: z.unknown().optional(),
  }),
});
export type Asked = z.infer<typeof Asked>;
/** A request, with the sender of its answer. */
type Question = Asked & { readonly self: string };
const Request = z.object({ id: z.number(), params: z.object({ arguments: Asked }) });
const Registered = z.object({ payload: z.object({ auth_token: z.string(), player_id: z.string() }) });

/** Of JSON that throws when it is made a text. */
const ODD = { toString: 1, valueOf: 1 };
const DEPTH = 60_000;
const TOO_MANY_BYTES = 10 * 1024 * 1024;

/** The one player of all fault tests: registers like a good one, then does what its flag says. */
export async function startFaultyPlayer(options: FaultyPlayerOptions): Promise<FaultyPlayer> {
  const { manager, name, port, fault, at = "MOVE_REQUEST", when = () => true } = options;
  const asked: Asked[] = [];
  const tokens: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  /** The player's id in each match, which the invitation names. */
  const ids = new Map<unknown, string>();

  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(404).end(); // a probe of its health
    const { id, params } = Request.parse(JSON.parse(await textOf(request)));
    const message = params.arguments;
    asked.push(message);
    if (message.auth_token !== undefined) tokens.push(message.auth_token);
    const failing = message.type === at && (await when(message)) ? fault : "none";
    const { match_id, roles = {}, your_role = "" } = message.payload;
    if (message.type === "GAME_INVITE") ids.set(match_id, roles[your_role] ?? "");
    const question = { ...message, self: `player:${ids.get(match_id) ?? name}` };
    const send = (): unknown => misbehave(failing, response, id, question, tokens[0] ?? "");
    if (failing === "silent") return;
    if (failing === "late") timers.add(setTimeout(send, options.lateMs));
    else send();
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const timer of timers) clearTimeout(timer);
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  if (manager !== null) tokens.push(await register(manager, name, port));
  if (fault === "refuse") await close();
  return { asked, tokens, stop: fault === "refuse" ? async () => {} : close };
}

async function register(manager: string, name: string, port: number): Promise<string> {
  const payload = {
    display_name: name,
    version: "1.0.0",
    game_types: gameIds,
    contact_endpoint: `http://127.0.0.1:${port}/mcp`,
  };
  const params = { name: "league_message", arguments: envelope("PLAYER_REGISTER_REQUEST", payload, `player:${name}`) };
  const response = await fetch(manager, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const reply = (await response.json()) as { result: { content: { text: string }[] } };
  return Registered.parse(JSON.parse(reply.result.content[0]?.text ?? "null")).payload.auth_token;
}

/** Answers one request as its flag says; `token` is its own, which careless bots send along. */
function misbehave(fault: FaultKind, response: ServerResponse, id: number, asked: Question, token: string): unknown {
  const secret = { auth_token: token };
  const matchToken = asked.auth_token ?? "";
  const reply = (message: object, replyId = id): string => rpc(replyId, JSON.stringify({ ...message, ...secret }));
  const send = (body: string, status = 200): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body);
  };
  switch (fault) {
    case "http_500":
      return send(JSON.stringify({ error: `broken with ${matchToken}`, ...secret }), 500);
    case "not_json":
      return send(`<html>${matchToken} "auth_token": "${token}"</html>`);
    case "not_json_rpc":
      return send(JSON.stringify({ hello: matchToken, ...secret }));
    case "text_not_json":
      return send(rpc(id, `I choose rock, by ${matchToken}`));
    case "text_no_envelope":
      return send(rpc(id, JSON.stringify({ move: "rock", matchToken, ...secret })));
    case "wrong_id":
      return send(reply(answerTo(asked), id + 1));
    case "illegal":
      return send(reply(answerTo(asked, { move: `banana ${matchToken}` })));
    case "illegal_once":
      return send(reply(answerTo(asked, asked.payload.error === undefined ? { move: "banana" } : {})));
    case "long_move":
      return send(reply(answerTo(asked, { move: "banana".repeat(30_000) })));
    case "odd_rpc_error":
      return send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: ODD, message: ODD }, ...secret }));
    case "odd_game_error":
      return send(reply(envelope("GAME_ERROR", { message: ODD }, asked.self, asked.message_id)));
    case "deep_game_error": {
      const error = JSON.stringify(envelope("GAME_ERROR", { message: null }, asked.self, asked.message_id));
      return send(rpc(id, error.replace("null", "[".repeat(DEPTH) + "]".repeat(DEPTH))));
    }
    case "decline":
      return send(reply(answerTo(asked, { accept: false, reason: "not today" })));
    case "decline_telling_token":
      return send(reply(answerTo(asked, { accept: false, reason: `not with ${matchToken}` })));
    case "other_sender":
      return send(reply({ ...answerTo(asked), sender: "player:P99" }));
    case "other_request":
      return send(reply({ ...answerTo(asked), correlation_id: randomUUID() }));
    case "other_match":
      return send(reply(answerTo(asked, { match_id: "R9M9" })));
    case "other_tick":
      return send(reply(answerTo(asked, { tick: 99 })));
    case "too_large":
      return send(`${matchToken} ${"x".repeat(TOO_MANY_BYTES)}`);
    case "many_tokens":
      return send('"token":"'.repeat(1_000));
    case "token_at_cut":
      return send(`${"x".repeat(1_980)}${matchToken}`);
    case "not_ascii":
      return send("é".repeat(3_000));
    case "drop":
      response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
      response.write('{"jsonrpc":');
      return void response.socket?.destroySoon();
    default:
      return send(reply(answerTo(asked)));
  }
}

/** The answer of a good player, with what it says otherwise. */
function answerTo(asked: Question, otherwise: object = {}): object {
  const { match_id, tick, legal_actions = [] } = asked.payload;
  if (asked.type === "GAME_INVITE") {
    return envelope("GAME_INVITE_RESPONSE", { match_id, accept: true, ...otherwise }, asked.self, asked.message_id);
  }
  if (asked.type !== "MOVE_REQUEST") return {};
  const move = { match_id, tick, move: legal_actions[0], ...otherwise };
  return envelope("MOVE_RESPONSE", move, asked.self, asked.message_id);
}

const envelope = (type: string, payload: object, sender: string, correlation_id?: string): object => ({
  protocol: "league.v2",
  message_id: randomUUID(),
  type,
  sender,
  timestamp: new Date().toISOString(),
  payload,
  correlation_id,
});

const rpc = (id: number, text: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
