import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { rpcErrorResponse, rpcRequest, rpcResponse } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";

/** The faults of a faulty player; `none` is a correct player. */
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
  | "decline_with_token"
  | "other_sender"
  | "other_request"
  | "other_match"
  | "other_tick"
  | "first_tick"
  | "ends_later"
  | "too_large"
  | "many_tokens"
  | "not_ascii"
  | "token_at_cut"
  | "long_move"
  | "odd_rpc_error"
  | "odd_game_error"
  | "deep_game_error"
  | "drop"
  | "short_body";

export interface FaultyPlayerOptions {
  /** The manager's endpoint; null if the player does not register. */
  readonly manager: string | null;
  readonly name: string;
  readonly port: number;
  readonly fault: FaultKind;
  /** The type of the requests that it answers faultily; MOVE_REQUEST by default. */
  readonly at?: "GAME_INVITE" | "MOVE_REQUEST";
  /** The delay of each answer with the fault `late`. */
  readonly lateMs?: number;
  /** Returns true for requests that it answers faultily; by default for all. The player awaits the promise, so a test can delay an answer. */
  readonly when?: (request: ReceivedMessage) => boolean | Promise<boolean>;
}

export interface FaultyPlayer {
  /** All tokens in the messages that it has received, and its own token. None of them may be published. */
  readonly tokens: readonly string[];
  readonly received: readonly ReceivedMessage[];
  stop(): Promise<void>;
}

const ReceivedMessage = z.looseObject({
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
export type ReceivedMessage = z.infer<typeof ReceivedMessage>;
/** A message with the sender of its answer, e.g. `player:P01`. */
type Question = ReceivedMessage & { readonly self: string };
const Request = z.object({ id: z.number(), params: z.object({ arguments: ReceivedMessage }) });
const Registered = z.object({ payload: z.object({ auth_token: z.string(), player_id: z.string() }) });

/** An object that throws when it is converted to a string. */
const ODD = { toString: 1, valueOf: 1 };
const DEPTH = 60_000;
const TOO_MANY_BYTES = 10 * 1024 * 1024;

/** Starts a player that registers correctly and then answers with the fault of the options. */
export async function startFaultyPlayer(options: FaultyPlayerOptions): Promise<FaultyPlayer> {
  const { manager, name, port, fault, at = "MOVE_REQUEST", when = () => true } = options;
  const received: ReceivedMessage[] = [];
  const tokens: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  /** The player's id in each match, from the invitation. */
  const ids = new Map<unknown, string>();

  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(404).end(); // a health probe
    const call = Request.safeParse(parsedJson(await textOf(request)));
    if (!call.success) return void response.writeHead(400).end();
    const { id, params } = call.data;
    const message = params.arguments;
    received.push(message);
    if (message.auth_token !== undefined) tokens.push(message.auth_token);
    const kind = message.type === at && (await when(message)) ? fault : "none";
    const { match_id, roles = {}, your_role = "" } = message.payload;
    if (message.type === "GAME_INVITE") ids.set(match_id, roles[your_role] ?? "");
    const question = { ...message, self: `player:${ids.get(match_id) ?? name}` };
    const send = (): unknown => answer(kind, response, id, question, tokens[0] ?? "");
    if (kind === "silent") return;
    if (kind === "ends_later" && message.payload.tick !== 0) return void close();
    if (kind === "late") timers.add(setTimeout(send, options.lateMs));
    else send();
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const timer of timers) clearTimeout(timer);
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listenOnLoopback(server, port);
  if (manager !== null) tokens.push(await register(manager, name, port));
  if (fault === "refuse") await close();
  return { received, tokens, stop: fault === "refuse" ? async () => {} : close };
}

/** Registers the player; resolves with its token. */
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
    body: JSON.stringify(rpcRequest("tools/call", params)),
  });
  const reply = (await response.json()) as { result: { content: { text: string }[] } };
  return Registered.parse(JSON.parse(reply.result.content[0]?.text ?? "null")).payload.auth_token;
}

/** Answers a question with a fault. `token` is the player's token, which every answer contains, as the answer of a careless bot may. */
function answer(fault: FaultKind, response: ServerResponse, id: number, question: Question, token: string): unknown {
  const secret = { auth_token: token };
  const matchToken = question.auth_token ?? "";
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
      return send(reply(answerTo(question), id + 1));
    case "illegal":
      return send(reply(answerTo(question, { move: `banana ${matchToken}` })));
    case "illegal_once":
      return send(reply(answerTo(question, question.payload.error === undefined ? { move: "banana" } : {})));
    case "long_move":
      return send(reply(answerTo(question, { move: "banana".repeat(30_000) })));
    case "odd_rpc_error":
      return send(JSON.stringify({ ...rpcErrorResponse(id, { code: ODD, message: ODD }), ...secret }));
    case "odd_game_error":
      return send(reply(envelope("GAME_ERROR", { message: ODD }, question.self, question.message_id)));
    case "deep_game_error": {
      const error = JSON.stringify(envelope("GAME_ERROR", { message: null }, question.self, question.message_id));
      return send(rpc(id, error.replace("null", "[".repeat(DEPTH) + "]".repeat(DEPTH))));
    }
    case "decline":
      return send(reply(answerTo(question, { accept: false, reason: "not today" })));
    case "decline_with_token":
      return send(reply(answerTo(question, { accept: false, reason: `not with ${matchToken}` })));
    case "other_sender":
      return send(reply({ ...answerTo(question), sender: "player:P99" }));
    case "other_request":
      return send(reply({ ...answerTo(question), correlation_id: randomUUID() }));
    case "other_match":
      return send(reply(answerTo(question, { match_id: "R9M9" })));
    case "other_tick":
    case "first_tick":
      return send(reply(answerTo(question, { tick: fault === "first_tick" ? 0 : 99 })));
    case "too_large":
      return send(`${matchToken} ${"x".repeat(TOO_MANY_BYTES)}`);
    case "many_tokens":
      return send('"token":"'.repeat(1_000));
    case "token_at_cut":
      return send(`${"x".repeat(1_980)}${matchToken}`);
    case "not_ascii":
      return send("é".repeat(3_000));
    case "drop":
      sendPart(response, '{"jsonrpc":', 1_000);
      return void response.socket?.destroySoon();
    case "short_body":
      return sendPart(response, reply(answerTo(question)), 5);
    default:
      return send(reply(answerTo(question)));
  }
}

/** Sends a body whose content-length is too large, and leaves the connection open. */
function sendPart(response: ServerResponse, body: string, missingBytes: number): void {
  const length = Buffer.byteLength(body) + missingBytes;
  response.writeHead(200, { "content-type": "application/json", "content-length": length });
  response.write(body);
}

/** Returns the correct answer to a question, with `changes` in its payload. */
function answerTo(question: Question, changes: object = {}): object {
  const { match_id, tick, legal_actions = [] } = question.payload;
  if (question.type === "GAME_INVITE") {
    return envelope("GAME_INVITE_RESPONSE", { match_id, accept: true, ...changes }, question.self, question.message_id);
  }
  if (question.type !== "MOVE_REQUEST") return {};
  const move = { match_id, tick, move: legal_actions[0], ...changes };
  return envelope("MOVE_RESPONSE", move, question.self, question.message_id);
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
  JSON.stringify(rpcResponse(id, { content: [{ type: "text", text }] }));

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
