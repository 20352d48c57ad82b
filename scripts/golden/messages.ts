import { type GameId, games } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { type DialectId, dialectIds, NATIVE } from "#shared/protocol/dialects/dialect.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import type { ObservedRequest } from "../simulation/machines/network.ts";
import { jsonText, withoutVersion } from "./record-text.ts";
import { type AskManager, playInWorld, type WorldPlayer } from "./world.ts";

/** The dialects, with the native one. */
export const DIALECTS: readonly (DialectId | typeof NATIVE)[] = [NATIVE, ...dialectIds];

/** Matches that are as short as possible. */
const OPTIONS: Readonly<Record<GameId, object>> = {
  "even_odd.v1": {},
  "rps.v1": { best_of: 3 },
  "chess.v1": { max_plies: 6 },
  "tic_tac_toe.v1": {},
  "connect_four.v1": {},
  "kuhn_poker.v1": { hands: 2 },
  "codenames.v1": {},
};

const NAMES = ["Ada", "Ben", "Cleo", "Dan"];

/** Plays a league of one match whose first player speaks the dialect. Resolves with all its messages, in their order, as text. */
export async function messagesOf(game: GameId, dialect: DialectId | typeof NATIVE): Promise<string> {
  // The first time, modules are loaded while the virtual time passes.
  await played(game, dialect);
  return shownOf(await played(game, dialect));
}

async function played(game: GameId, dialect: DialectId | typeof NATIVE): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  const names = NAMES.slice(0, games[game].roles.length);
  const players = names.map((name, index): WorldPlayer => {
    if (dialect === NATIVE || index > 0) return { name, bot: "random" };
    return {
      name,
      start: (self, port, askManager) =>
        startDialectPlayer(dialect, { name, game, port }, self, async (body) => {
          const request = { from: `player-${index + 1}`, to: "manager", body, isOverSocket: false };
          const reply = await askManager(body);
          exchanges.push({ request, reply });
          return reply;
        }),
    };
  });
  const config = Config.parse({
    players: players.map(({ name, ...form }) => ({ name, ...("bot" in form ? { bot: form.bot } : { self: true }) })),
    leagues: [{ league_id: "golden", game, options: OPTIONS[game] }],
  });
  const open = new Map<string, Exchange>();
  const db = await playInWorld({
    seed: `messages/${game}`,
    config,
    players,
    startWhen: "roster",
    onRequest(request) {
      const exchange: Exchange = { request, reply: null };
      exchanges.push(exchange);
      open.set(keyOf(request), exchange);
    },
    onAnswer(request, reply) {
      const exchange = open.get(keyOf(request));
      if (exchange) exchange.reply = reply;
    },
  });
  db.close();
  return exchanges;
}

/** A request with its answer; null while it has none. */
interface Exchange {
  readonly request: ObservedRequest;
  reply: string | null;
}

const keyOf = ({ from, to, body }: ObservedRequest): string => JSON.stringify([from, to, body]);

/** The number of messages of a type to one kind of agents that are written in full. Of the others the record has a hash. */
const IN_FULL = 2;

function shownOf(exchanges: readonly Exchange[]): string {
  const counts = new Map<string, number>();
  const texts = exchanges.map(({ request, reply }) => {
    const { from, to, body, isOverSocket } = request;
    const title = `${typeIn(body)}, ${from} to ${to}${isOverSocket ? " over a WebSocket" : ""}`;
    const answer = reply === null ? "none" : shownBody(reply, body);
    const text = withoutVersion(`${shownBody(body, body)}\nanswer: ${answer}`);
    const kind = title.replaceAll(/player-\d+/g, "player");
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= IN_FULL ? `# ${title}\n${text}\n` : `# ${title}: ${sha256Hex(text).slice(0, 16)}\n`;
  });
  return texts.join("\n");
}

interface Message {
  readonly method?: string;
  readonly params?: {
    readonly message_type?: string;
    readonly arguments?: { readonly type?: string; readonly message_type?: string };
  };
}

function typeIn(body: string): string {
  const { method = "", params } = JSON.parse(body) as Message;
  return params?.arguments?.type ?? params?.arguments?.message_type ?? params?.message_type ?? method;
}

/**
 * Returns a message as text. `message_id` and the id of JSON-RPC count the messages of an agent, so a further message would change those of all later ones.
 * They are replaced by their meaning: the correlation id and the id of an answer must be those of the request.
 */
function shownBody(body: string, request: string): string {
  if (body === "") return "no body";
  const ids = idsIn(request);
  const masked = JSON.parse(body, (key, value: unknown) => {
    if (typeof value === "string" && value.startsWith("{")) return JSON.stringify(JSON.parse(value, mask(ids)));
    return mask(ids)(key, value);
  }) as object;
  const { id } = JSON.parse(body) as { readonly id?: unknown };
  const message = { ...masked, ...(id !== undefined && { id: id === ids.rpc ? "<id>" : id }) };
  const inner = envelopeIn(message);
  return inner === null ? jsonText(message) : `an envelope ${jsonText(inner)}`;
}

const USUAL_FORMS = [
  (envelope: unknown) => ({ ...RPC, method: "tools/call", params: { name: "league_message", arguments: envelope } }),
  (envelope: unknown) => ({ ...RPC, result: { content: [{ type: "text", text: JSON.stringify(envelope) }] } }),
];
const RPC = { jsonrpc: "2.0", id: "<id>" };

/** Returns the envelope in a message that has exactly the form of native requests or answers; null for any other message. Makes the record half as long. */
function envelopeIn(message: object): unknown {
  const { params, result } = message as Message & {
    readonly result?: { readonly content?: readonly { text: string }[] };
  };
  const text = result?.content?.[0]?.text;
  const envelope: unknown = params?.arguments ?? (text?.startsWith("{") ? JSON.parse(text) : null);
  const isUsual = USUAL_FORMS.some((form) => JSON.stringify(form(envelope)) === JSON.stringify(message));
  return envelope !== null && isUsual ? envelope : null;
}

interface RequestIds {
  readonly rpc: unknown;
  readonly message: unknown;
}

function idsIn(request: string): RequestIds {
  const { id, params } = JSON.parse(request) as {
    readonly id?: unknown;
    readonly params?: { readonly arguments?: { readonly message_id?: unknown } };
  };
  return { rpc: id, message: params?.arguments?.message_id };
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const mask =
  ({ message }: RequestIds) =>
  (key: string, value: unknown): unknown => {
    if (key === "message_id" && UUID.test(String(value))) return "<message id>";
    return key === "correlation_id" && value === message ? "<message id of the request>" : value;
  };

/** The fields of the messages of both dialects that the player reads. */
interface Received {
  readonly message_type?: string;
  readonly match_id?: string;
  readonly game_round?: number;
  readonly move_request?: { readonly valid_options?: readonly unknown[] };
  readonly game_state?: { readonly legal_actions?: readonly unknown[]; readonly valid_options?: readonly unknown[] };
}

interface Request {
  readonly id?: number | string;
  readonly params?: Received & { readonly arguments?: Received };
}

/** Starts a small player of a dialect. It registers itself and answers move requests with the first option that they list, or with 1. */
async function startDialectPlayer(
  dialect: DialectId,
  { name, game, port }: { readonly name: string; readonly game: string; readonly port: number },
  self: AgentProcess,
  askManager: AskManager,
): Promise<RunningAgent> {
  const identity = { id: "unknown", token: "" };
  const options: Pick<ListenOptions, "ports" | "handler" | "isReady"> = {
    ports: [port],
    isReady: () => true,
    async handler(body) {
      const { id, params } = JSON.parse(body) as Request;
      const result = answerTo(dialect, params?.arguments ?? params ?? {}, identity);
      return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result }) };
    },
  };
  const listening = await self.network.listen(options as ListenOptions);
  if (!listening.ok) throw new Error(listening.error);
  const answer = await askManager(JSON.stringify(registrationOf(dialect, name, game, port)));
  const { result } = JSON.parse(answer ?? "{}") as {
    readonly result?: { readonly player_id?: string; readonly auth_token?: string };
  };
  identity.id = result?.player_id ?? identity.id;
  identity.token = result?.auth_token ?? identity.token;
  return { stop: () => listening.value.close() };
}

function registrationOf(dialect: DialectId, name: string, game: string, port: number): object {
  const message = {
    protocol: dialect === "league.v1" ? "league.v1" : "league.v2",
    message_type: "LEAGUE_REGISTER_REQUEST",
    conversation_id: "0f8fad5b-d9cb-469f-a165-70867728950e",
    sender: "player:new_player",
    timestamp: "2026-01-01T00:00:00Z",
    player_meta: {
      display_name: name,
      version: "1.0.0",
      game_types: [game.replace(/\.v\d+$/, "")],
      contact_endpoint: `http://127.0.0.1:${port}/mcp`,
    },
  };
  return dialect === "league.v1"
    ? { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "register_player", arguments: message } }
    : { jsonrpc: "2.0", id: 1, method: "register_player", params: message };
}

function answerTo(dialect: DialectId, message: Received, { id, token }: { id: string; token: string }): object {
  const { message_type: type, match_id } = message;
  const head = { protocol: dialect === "league.v1" ? "league.v1" : "league.v2", sender: `player:${id}`, match_id };
  const choice =
    [message.move_request, message.game_state].flatMap(
      (place) => place?.valid_options ?? (place && "legal_actions" in place ? place.legal_actions : []) ?? [],
    )[0] ?? 1;
  switch (type) {
    case "GAME_INVITATION":
      return { ...head, auth_token: token, message_type: "GAME_JOIN_ACK", player_id: id, accept: true };
    case "CHOOSE_PARITY_CALL":
      return {
        ...head,
        auth_token: token,
        message_type: "CHOOSE_PARITY_RESPONSE",
        player_id: id,
        parity_choice: "even",
      };
    case "GAME_MOVE_CALL":
      return { ...head, auth_token: token, message_type: "GAME_MOVE_RESPONSE", move_data: { choice } };
    case "MOVE_REQUEST":
      return { ...head, message_type: "MOVE_RESPONSE", game_round: message.game_round, move: { number: choice } };
    default:
      return { status: "OK" };
  }
}
