import { sha256Hex } from "#shared/lib/hash.ts";

/** The programs that play in other dialects (PROTOCOL.md, section 6). */
export const DIALECT_PROGRAMS = ["handle message", "later answers", "league.v1", "tool calls"] as const;
export type DialectProgram = (typeof DIALECT_PROGRAMS)[number];

/** A message of another dialect. */
export type Message = Readonly<Record<string, unknown>> & { readonly message_type: string };

/** The identity of a program after its registration; empty before it. */
export interface Identity {
  playerId: string;
  token: string;
}

/** What a program answers to a request. */
interface ProgramReply {
  readonly status: number;
  readonly body: object;
  /** The message whose answer the program sends in a separate request. */
  readonly later?: Message;
}

interface Registration {
  readonly name: string;
  readonly game: string;
  readonly port: number;
  /** The number of earlier registrations of this process. */
  readonly count: number;
}

/** The wording of a program. */
interface Wording {
  readonly listensFirst: boolean;
  /** Returns the body of the registration. */
  register(registration: Registration): object;
  /** Returns the answer to a request; null to a request that the program does not understand. */
  answer(rpc: Rpc, identity: Identity): ProgramReply | null;
}

/** A JSON-RPC request. */
interface Rpc {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Returns the move of a program. The same position has the same move, also after a restart. */
export function choiceIn(message: Message): unknown {
  const options = (message.valid_options ?? message.valid_moves) as readonly unknown[] | undefined;
  const text = JSON.stringify([message.match_id, message.your_role, message.game_round, message.game_state]);
  const index = Number.parseInt(sha256Hex(text).slice(0, 8), 16);
  return options?.length ? options[index % options.length] : (index % 5) + 1;
}

const isMoveCall = (message: Message): boolean =>
  message.message_type === "CHOOSE_PARITY_CALL" || message.message_type === "GAME_MOVE_CALL";

const resultOf = ({ id }: Rpc, result: object): ProgramReply => ({ status: 200, body: { jsonrpc: "2.0", id, result } });
const errorOf = ({ id }: Rpc, status: number, code: number, message: string): ProgramReply => ({
  status,
  body: { jsonrpc: "2.0", id, error: { code, message } },
});

const metaOf = ({ name, game, port }: Registration, host: string) => ({
  display_name: name,
  version: "1.0.0",
  game_types: [game.replace(/\.v\d+$/, "")],
  contact_endpoint: `http://${host}:${port}/mcp`,
});

/** One method for all messages. It rejects messages without its token. */
const handleMessage: Wording = {
  listensFirst: true,
  register: (registration) => ({
    jsonrpc: "2.0",
    id: 1 + registration.count,
    method: "handle_message",
    params: {
      message: {
        protocol: "league.v2",
        message_type: "LEAGUE_REGISTER_REQUEST",
        sender: "player:unregistered",
        conversation_id: `conv-${registration.name}`,
        timestamp: "2026-01-01T00:00:00.123456+00:00",
        player_meta: metaOf(registration, "localhost"),
      },
    },
  }),
  answer(rpc, { playerId, token }) {
    if (rpc.method !== "handle_message") return null;
    const message = rpc.params?.message as Message;
    if (!message.auth_token || (token !== "" && message.auth_token !== token))
      return errorOf(rpc, 200, -32603, "auth_token is not mine");
    const { message_type: type, match_id, conversation_id } = message;
    const head = { protocol: "league.v2", sender: `player:${playerId}`, auth_token: token, conversation_id, match_id };
    if (type === "GAME_INVITATION")
      return resultOf(rpc, { ...head, message_type: "GAME_JOIN_ACK", player_id: playerId, accept: true });
    if (type === "CHOOSE_PARITY_CALL")
      return resultOf(rpc, { ...head, message_type: "CHOOSE_PARITY_RESPONSE", parity_choice: choiceIn(message) });
    if (type === "GAME_MOVE_CALL")
      return resultOf(rpc, { ...head, message_type: "GAME_MOVE_RESPONSE", move_data: { choice: choiceIn(message) } });
    return resultOf(rpc, { status: "acknowledged" });
  },
};

/** Answers each request with RECEIVED, and sends the real answer later in a separate request. It registers before it listens. */
const laterAnswers: Wording = {
  listensFirst: false,
  register: (registration) => ({
    jsonrpc: "2.0",
    id: 99,
    method: "protocol/message",
    params: {
      protocol: "league.v2",
      message_type: "LEAGUE_REGISTER_REQUEST",
      sender: registration.name,
      timestamp: "2026-01-01T00:00:00",
      conversation_id: "c1",
      player_meta: metaOf(registration, "127.0.0.1"),
    },
  }),
  answer(rpc) {
    if (rpc.method !== "protocol/message") return null;
    const message = rpc.params as Message;
    const later = isMoveCall(message) || message.message_type === "GAME_INVITATION";
    return { ...resultOf(rpc, { status: "RECEIVED" }), ...(later && { later: message }) };
  },
};

const LEAGUE_V1_FIELDS: Readonly<Record<string, readonly string[]>> = {
  GAME_START: ["game_config", "players"],
  MOVE_REQUEST: ["game_round", "game_state", "time_limit_seconds"],
  ROUND_RESULT: ["game_round", "moves", "round_winner", "scores"],
  GAME_END: ["final_scores", "winner", "match_points"],
};
const LEAGUE_V1_COMMON = ["league_id", "round_id", "match_id", "conversation_id", "sender", "timestamp"];

/** The dialect league.v1. It rejects messages without a field of its specification, and has no body for notifications. */
const leagueV1: Wording = {
  listensFirst: true,
  register: (registration) => ({
    jsonrpc: "2.0",
    id: `registration ${registration.count}`,
    method: "tools/call",
    params: {
      name: "register_player",
      arguments: {
        protocol: "league.v1",
        message_type: "LEAGUE_REGISTER_REQUEST",
        league_id: "league_2024_01",
        conversation_id: "0f8fad5b-d9cb-469f-a165-70867728950e",
        sender: "player:new_player",
        timestamp: "2026-01-01T00:00:00Z",
        player_meta: metaOf(registration, "127.0.0.1"),
      },
    },
  }),
  answer(rpc, { playerId }) {
    const message = rpc.params?.arguments as Message | undefined;
    const fields = LEAGUE_V1_FIELDS[message?.message_type ?? ""];
    if (rpc.method !== "tools/call" || !message || !fields) return errorOf(rpc, 404, -32601, "Method not found");
    const missing = [...LEAGUE_V1_COMMON, ...fields].filter((field) => message[field] === undefined);
    if (missing.length > 0) return { status: 400, body: { detail: `missing fields: ${missing.join()}` } };
    const { message_type: type, league_id, match_id, game_round, conversation_id } = message;
    if (type !== "MOVE_REQUEST") return resultOf(rpc, { status: "OK" });
    return resultOf(rpc, {
      protocol: "league.v1",
      message_type: "MOVE_RESPONSE",
      sender: `player:${playerId}`,
      league_id,
      match_id,
      game_round,
      conversation_id,
      move: { number: choiceIn(message) },
    });
  },
};

const TOOLS: ReadonlySet<unknown> = new Set([
  "receive_game_invitation",
  "choose_parity",
  "make_move",
  "receive_game_over",
]);

/** A table of tools, as of an MCP server, whose results are texts. It has no tools for most notifications. */
const toolCalls: Wording = {
  listensFirst: true,
  register: (registration) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "register_player",
      arguments: {
        protocol: "league.v2",
        message_type: "LEAGUE_REGISTER_REQUEST",
        sender: `player:${registration.name}`,
        player_meta: metaOf(registration, "127.0.0.1"),
      },
    },
  }),
  answer(rpc) {
    const name = rpc.params?.name;
    if (!Number.isInteger(rpc.id)) return { status: 400, body: { detail: "id must be an integer" } };
    if (rpc.method !== "tools/call" || !TOOLS.has(name)) return errorOf(rpc, 400, -32602, "Unknown tool");
    const message = rpc.params?.arguments as Message;
    const result = ((): object => {
      if (name === "choose_parity") return { match_id: message.match_id, parity_choice: choiceIn(message) };
      return name === "make_move" ? { move_payload: cellOf(choiceIn(message)) } : { status: "ACK" };
    })();
    const body = { jsonrpc: "2.0", id: rpc.id, result: { content: [{ type: "text", text: JSON.stringify(result) }] } };
    return { status: 200, body: { ...body, error: null } };
  },
};

/** A cell such as `a3` as a row and a column, counted from the top left; another move as it is. */
function cellOf(choice: unknown): object {
  const [, column, row] = /^([a-c])([1-3])$/.exec(String(choice)) ?? [];
  return column === undefined ? { choice } : { row: 3 - Number(row), col: column.charCodeAt(0) - 97 };
}

export const WORDINGS: Readonly<Record<DialectProgram, Wording>> = {
  "handle message": handleMessage,
  "later answers": laterAnswers,
  "league.v1": leagueV1,
  "tool calls": toolCalls,
};
