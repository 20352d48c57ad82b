import { dialectIds } from "./dialect.ts";
import { type Fields, first, firstText, isFields, wholeSeconds } from "./fields.ts";
import { type ForeignMessage, type Form, splitMessage } from "./forms.ts";

/** A message of another dialect that an agent has received. */
export interface ForeignRequest {
  /** The type in the wording of the classroom. */
  readonly type: RequestType;
  readonly form: Form;
  /** The fields of the message: flat, with those of its envelope and payload. */
  readonly message: Fields;
  readonly protocol: string | null;
  /** The id of the JSON-RPC request; null for a message without one. */
  readonly id: string | number | null;
}

export type RequestType = "register" | "query" | "join_ack" | "move" | "referee" | "unknown";

/** The names of each message, as message type, method or tool, without case and separators. */
const NAMES: Readonly<Record<Exclude<RequestType, "unknown">, ReadonlySet<string>>> = {
  register: new Set([
    "leagueregisterrequest",
    "leagueregister",
    "registerplayer",
    "playerregister",
    "playerregisterrequest",
    "registerplayerrequest",
    "playerregistrationrequest",
    "register",
    "registeragent",
    "registrationrequest",
  ]),
  query: new Set(["leaguequery", "handleleaguequery", "queryleague", "leaguequeryrequest"]),
  join_ack: new Set(["gamejoinack", "receivegamejoinack", "joinack", "gameinviteresponse", "handlegamejoinack"]),
  move: new Set([
    "chooseparityresponse",
    "receiveparityresponse",
    "receivechooseparityresponse",
    "parityresponse",
    "paritychoice",
    "responseparitychoose",
    "gamemoveresponse",
    "receivegamemoveresponse",
    "moveresponse",
    "receivemoveresponse",
    "receiveparitychoice",
    "handlechooseparityresponse",
  ]),
  referee: new Set(["refereeregisterrequest", "registerreferee", "registerrefereerequest", "matchresultreport"]),
};

const normalized = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

function typeOf(name: string | null): RequestType | null {
  const key = normalized(name ?? "");
  const found = Object.entries(NAMES).find(([, names]) => names.has(key));
  return (found?.[0] as RequestType | undefined) ?? null;
}

/** The methods of MCP and of the native protocol, whose requests are never those of another dialect unless they contain a message of it. */
const isNativeMethod = (method: string): boolean => method.startsWith("notifications/") || NATIVE_METHODS.has(method);
const NATIVE_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "tools/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/list",
  "prompts/get",
  "resources/subscribe",
  "resources/unsubscribe",
  "server/discover",
]);

/**
 * Returns the message of another dialect in the body of a request to `/mcp`; null for every other request. The test for a native `tools/call` comes first, because
 * each move of a match passes through here.
 */
export function foreignRequestIn(body: unknown): ForeignRequest | null {
  if (!isFields(body)) return null;
  const { method, params } = body;
  if (method === "tools/call" && isFields(params)) return inToolCall(body, params);
  if (typeof method === "string" && isNativeMethod(method)) return null;
  if (typeof method !== "string") return body.jsonrpc === undefined ? bare(body) : null;
  const located = locate(params);
  const family = FAMILY_OF_METHOD[method] ?? familyOf(method, located.fields);
  return requestOf(body, method, { family, place: located.place }, located.fields);
}

const FAMILY_OF_METHOD: Readonly<Record<string, Form["family"]>> = {
  handle_message: "handle_message",
  "protocol/message": "protocol_message",
  "league.handle": "league_handle",
};

function familyOf(method: string, message: Fields): Form["family"] {
  const type = firstText([message], ["message_type"]) ?? "LEAGUE_REGISTER_REQUEST";
  if (method === type) return "type";
  return method === type.toLowerCase() ? "type_lower" : "tool";
}

function inToolCall(body: Fields, { name, arguments: args }: Fields): ForeignRequest | null {
  if (!isFields(args) || typeof name !== "string") return null;
  const isWrapped = isFields(args.message) || isFields(args.envelope);
  // Plain arguments of a native tool have no message type, and a native envelope has `type`.
  const isMessage = typeof args.message_type === "string" || isFields(args.player_meta);
  if (!isWrapped && !isMessage && !isPlainRegistration(name, args)) return null;
  const located = locate(args);
  const place = located.place === "params" ? "arguments" : located.place;
  return requestOf(body, name, { family: "tools_call", place }, located.fields);
}

/** Whether a tool call registers a player with the fields of the classroom. The native tool has `player_name` instead of `display_name`. */
const isPlainRegistration = (tool: string, args: Fields): boolean =>
  typeOf(tool) === "register" &&
  args.player_name === undefined &&
  firstText([args], ["display_name"]) !== null &&
  firstText([args], ENDPOINT_FIELDS) !== null;

/**
 * Returns the body of a request to a path for registrations. The fields of a registration get the type of the message, and those of its envelope and payload
 * become fields of the message. A JSON-RPC request and a native envelope are returned unchanged: native players register at `/mcp` only, where new agents are
 * counted.
 */
export function registrationBody(body: unknown): unknown {
  if (!isFields(body) || body.jsonrpc !== undefined || typeof body.method === "string") return body;
  if (typeof body.type === "string" && isFields(body.payload)) return body;
  const { envelope, payload, ...message } = body;
  return { message_type: "LEAGUE_REGISTER_REQUEST", ...message, ...fieldsOf(envelope), ...fieldsOf(payload) };
}

const bare = (body: Fields): ForeignRequest | null =>
  typeof body.message_type === "string" || isFields(body.player_meta)
    ? requestOf(body, "", { family: "bare", place: "body" }, body)
    : null;

/** Finds the message in the params of a request. */
function locate(params: unknown): { readonly fields: Fields; readonly place: Form["place"] } {
  if (!isFields(params)) return { fields: {}, place: "params" };
  const { message, envelope, payload } = params;
  if (isFields(envelope)) {
    return { fields: { ...params, ...envelope, ...(isFields(payload) ? payload : {}) }, place: "envelope" };
  }
  if (isFields(message)) return { fields: { ...message, ...fieldsOf(message.payload) }, place: "message" };
  if (isFields(params.arguments)) return { fields: params.arguments, place: "arguments" };
  return { fields: { ...params, ...fieldsOf(payload) }, place: "params" };
}

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

function requestOf(body: Fields, method: string, form: Form, message: Fields): ForeignRequest | null {
  const named = firstText([message], ["message_type", "type"]);
  const isNativeEnvelope = typeof message.message_type !== "string" && isFields(message.payload);
  if (isNativeEnvelope && named !== null) return null;
  const type = typeOf(named) ?? typeOf(method);
  const protocol = firstText([message], ["protocol"]);
  // A method that no dialect knows, without a message, is an unknown method.
  if (type === null && named === null && protocol === null) return null;
  const id = typeof body.id === "string" || typeof body.id === "number" ? body.id : null;
  return { type: type ?? "unknown", form, message, protocol, id };
}

const ENDPOINT_FIELDS = [
  "contact_endpoint",
  "endpoint",
  "endpoint_url",
  "callback_url",
  "contact_url",
  "mcp_endpoint",
  "server_url",
  "url",
];
const NAME_FIELDS = ["display_name", "player_name", "agent_name", "name", "player_id", "agent_id"];

/** The fields of a registration; null or empty for those that it does not contain. */
export interface ForeignRegistration {
  readonly endpoint: string | null;
  readonly name: string | null;
  readonly version: string | null;
  readonly gameTypes: readonly string[];
  readonly leagueId: string | null;
  readonly joinCode: string | null;
}

/** Reads a registration: the first of the usual fields counts, in `player_meta` or in the message. */
export function registrationIn({ message }: ForeignRequest): ForeignRegistration {
  const meta = [message.player_meta, message.agent_meta, message.meta, message.player, message.agent_info];
  const sources = [...meta.filter(isFields), message];
  const games = first(sources, ["game_types", "supported_games", "games", "game_type"]);
  const list = Array.isArray(games) ? games : [games];
  return {
    endpoint: firstText(sources, ENDPOINT_FIELDS),
    name: firstText(sources, NAME_FIELDS) ?? firstText([message], ["sender"]),
    version: firstText(sources, ["version", "agent_version"]),
    gameTypes: list.filter((game) => typeof game === "string"),
    leagueId: firstText([message], ["league_id"]),
    joinCode: firstText(sources, ["join_code"]),
  };
}

/** The identity and the time of a reply. */
export interface ReplyHead {
  /** `league_manager` or `referee:REF01`. */
  readonly sender: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The conversation if the request names none: a UUID. */
  readonly conversationId: string;
}

/** The names of all dialects, for people. */
const SPOKEN = `native (PROTOCOL.md: "type" and "payload" in a league.v2 envelope), ${dialectIds.join(" and ")}`;

/** Returns a reply to a request: the common fields, and those of its type. */
export const replyTo = (
  { message, protocol }: ForeignRequest,
  { sender, at, conversationId }: ReplyHead,
  type: string,
  fields: object,
): ForeignMessage => ({
  protocol: protocol ?? "league.v2",
  message_type: type,
  sender,
  timestamp: wholeSeconds(at),
  conversation_id: firstText([message], ["conversation_id"]) ?? conversationId,
  ...fields,
});

/** Returns an error in the form of the classroom. `reason` is the text for people. */
export const errorReply = (
  request: ForeignRequest,
  head: ReplyHead,
  code: ClassroomCode,
  reason: string,
  context: object = {},
): ForeignMessage =>
  replyTo(request, head, "LEAGUE_ERROR", {
    ...errorOf(code),
    status: "REJECTED",
    success: false,
    reason,
    original_message_type: firstText([request.message], ["message_type", "type"]),
    context,
  });

/** Returns the body of a response. A message is in every place in which programs look for it. */
export function responseBody({ id, form }: ForeignRequest, message: ForeignMessage): string {
  if (form.family === "bare") return JSON.stringify({ ...message, response: message });
  const text = JSON.stringify(message);
  const { envelope, payload } = splitMessage(message);
  const { auth_token, league_id } = message;
  const result: Fields = {
    ...message,
    envelope,
    payload: {
      ...payload,
      ...(auth_token !== undefined && { auth_token }),
      ...(league_id !== undefined && { league_id }),
    },
    response: message,
    content: [{ type: "text", text }],
  };
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

const INVALID_PARAMS = -32602;

/** Returns the JSON-RPC error of a message in no known dialect. It names the dialects and the first field that does not fit. */
export function unknownDialectBody({ id, message }: ForeignRequest, field: string, fault: string): string {
  const text = `${field}: ${fault}. The dialects spoken here are ${SPOKEN}`;
  const code = field === "protocol" ? errorOf("E018") : {};
  const original = firstText([message], ["message_type", "type"]);
  const data = { ...code, field, dialects: ["native", ...dialectIds], original_message_type: original };
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: INVALID_PARAMS, message: text, data } });
}

/** The errors of the dialect of the classroom. */
const descriptions = {
  E001: "TIMEOUT_ERROR",
  E003: "MISSING_REQUIRED_FIELD",
  E004: "INVALID_PARITY_CHOICE",
  E005: "PLAYER_NOT_REGISTERED",
  E009: "CONNECTION_ERROR",
  E011: "AUTH_TOKEN_MISSING",
  E012: "AUTH_TOKEN_INVALID",
  E018: "PROTOCOL_VERSION_MISMATCH",
  E021: "INVALID_TIMESTAMP",
} as const;

type ClassroomCode = keyof typeof descriptions;

/** The fields of an error that name it. */
export const errorOf = (code: ClassroomCode) => ({ error_code: code, error_description: descriptions[code] });
