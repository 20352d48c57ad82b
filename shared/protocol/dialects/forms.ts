import { z } from "zod";

/** The JSON-RPC methods of messages, as other programs name them. */
const families = [
  /** A tool of the message: `handle_game_invitation`. */
  "tool",
  /** The message type. */
  "type",
  "handle_message",
  /** `tools/call` of a tool. */
  "tools_call",
  /** A tool that begins with `receive`: `receive_game_invitation`. */
  "receive",
  "protocol_message",
  /** The message type in lower case. */
  "type_lower",
  "league_handle",
  /** The message is the body: there is no JSON-RPC request. */
  "bare",
] as const;

/** The place of a message in the body: `params`, `params.message`, `params.arguments`, `params.envelope` with `params.payload`, or the body itself. */
const places = ["params", "message", "arguments", "envelope", "body"] as const;
type Place = (typeof places)[number];

/** The form in which a player expects messages. The manager finds it at registration. */
export const Form = z.object({ family: z.enum(families), place: z.enum(places) });
export type Form = Readonly<z.infer<typeof Form>>;

/** The form of a player that has not registered itself. */
export const DEFAULT_FORM: Form = { family: "tool", place: "params" };

/** The forms that are tried after the registered one, in this order. */
const ALL_FORMS: readonly Form[] = [
  DEFAULT_FORM,
  { family: "type", place: "params" },
  { family: "handle_message", place: "message" },
  { family: "tools_call", place: "arguments" },
  { family: "receive", place: "params" },
  { family: "protocol_message", place: "params" },
  { family: "protocol_message", place: "message" },
  { family: "type_lower", place: "params" },
  { family: "league_handle", place: "envelope" },
  { family: "handle_message", place: "params" },
  { family: "tool", place: "message" },
  { family: "type", place: "message" },
  { family: "tools_call", place: "message" },
  { family: "bare", place: "body" },
];

/** One way to send a message. */
export interface Attempt extends Form {
  readonly method: string;
  /** The name in a `tools/call`. */
  readonly tool?: string;
}

/** A message of another dialect: flat fields, of which `message_type` is the type. */
export type ForeignMessage = Readonly<Record<string, unknown>> & { readonly message_type: string };

/** The ways to send a message of a type, `first` first. */
export function attemptsFor(type: string, first: Form): readonly Attempt[] {
  const forms = [first, ...ALL_FORMS.filter((form) => !isSameForm(form, first))];
  return forms.flatMap((form) => attemptsOf(type, form));
}

/** The ways to send a message of a type in one form. */
export function attemptsOf(type: string, { family, place }: Form): readonly Attempt[] {
  const form = { family, place };
  switch (family) {
    case "tool":
    case "receive":
      return toolsOf(type, family).map((method) => ({ ...form, method }));
    case "tools_call":
      return toolsOf(type, family).map((tool) => ({ ...form, method: "tools/call", tool }));
    case "type":
      return [{ ...form, method: type }];
    case "type_lower":
      return [{ ...form, method: type.toLowerCase() }];
    case "league_handle":
      return [{ ...form, method: "league.handle" }];
    case "protocol_message":
      return [{ ...form, method: "protocol/message" }];
    case "handle_message":
    case "bare":
      return [{ ...form, method: "handle_message" }];
  }
}

const toolsOf = (type: string, family: ToolFamily): readonly string[] =>
  MESSAGE_TOOLS[type]?.[family] ?? [family === "receive" ? `receive_${type.toLowerCase()}` : type.toLowerCase()];

export const isSameForm = (one: Form, other: Form): boolean => one.family === other.family && one.place === other.place;

/** The fields of a message that stand in `params.envelope`; the others stand in `params.payload`. */
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
  "protocol",
  "message_type",
  "sender",
  "timestamp",
  "conversation_id",
  "message_id",
  "auth_token",
  "league_id",
  "round_id",
  "match_id",
  "game_type",
]);

/** Returns the body of a request. Its id is an integer, because some programs reject strings. */
export function bodyOf({ family, place, method, tool }: Attempt, message: ForeignMessage, id: number): string {
  if (family === "bare") return JSON.stringify(message);
  const params = tool === undefined ? placed(message, place) : { name: tool, arguments: toolArguments(message, place) };
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

function placed(message: ForeignMessage, place: Place): object {
  if (place === "message") return { message };
  if (place === "arguments") return { arguments: message };
  return place === "envelope" ? splitMessage(message) : message;
}

const toolArguments = (message: ForeignMessage, place: Place): object => (place === "message" ? { message } : message);

/** Splits a message into the fields of the envelope and those of the payload. */
export function splitMessage(message: ForeignMessage): { readonly envelope: object; readonly payload: object } {
  const entries = Object.entries(message);
  return {
    envelope: Object.fromEntries(entries.filter(([name]) => ENVELOPE_FIELDS.has(name))),
    payload: Object.fromEntries(entries.filter(([name]) => !ENVELOPE_FIELDS.has(name))),
  };
}

/** The families of forms in which each message is a call of a tool with a name for this message. */
type ToolFamily = "tool" | "tools_call" | "receive";

type Names = Readonly<Record<ToolFamily, readonly string[]>>;

const names = (tool: readonly string[], toolsCall: readonly string[], receive: readonly string[]): Names => ({
  tool,
  tools_call: toolsCall,
  receive,
});

/** The tools of each message that players of other programs have. The most common one is first. */
const MESSAGE_TOOLS: Readonly<Record<string, Names>> = {
  GAME_INVITATION: names(
    ["handle_game_invitation", "game_invitation"],
    ["receive_game_invitation", "handle_game_invitation", "GAME_INVITE", "game_invite"],
    ["receive_game_invitation"],
  ),
  CHOOSE_PARITY_CALL: names(
    ["choose_parity", "parity_choose", "handle_choose_parity"],
    ["choose_parity", "parity_choose", "MOVE_REQUEST", "move_request"],
    ["receive_parity_call", "receive_choose_parity_call"],
  ),
  GAME_MOVE_CALL: names(
    ["game_move", "make_move", "choose_move", "handle_game_move"],
    ["make_move", "choose_move", "game_move", "MOVE_REQUEST", "move_request"],
    ["receive_game_move_call", "receive_move_call"],
  ),
  GAME_OVER: names(
    ["notify_match_result", "notify_game_over", "handle_game_over"],
    ["receive_game_over", "notify_match_result", "GAME_RESULT", "game_result"],
    ["receive_game_over"],
  ),
  GAME_ERROR: names(["notify_game_error"], ["notify_game_error"], ["receive_game_error"]),
  ROUND_ANNOUNCEMENT: names(["notify_round"], ["notify_round"], ["receive_round_announcement"]),
  LEAGUE_STANDINGS_UPDATE: names(
    ["update_standings", "notify_standings"],
    ["notify_standings", "update_standings"],
    ["receive_standings_update"],
  ),
  ROUND_COMPLETED: names(["notify_round_completed"], ["notify_round_completed"], ["receive_round_completed"]),
  LEAGUE_COMPLETED: names(["notify_league_completed"], ["notify_league_completed"], ["receive_league_completed"]),
  // Messages of league.v1.
  GAME_START: names(["game_start", "handle_game_start"], ["game_start", "start_game"], ["receive_game_start"]),
  MOVE_REQUEST: names(
    ["move_request", "make_move", "handle_move_request", "request_move"],
    ["make_move", "move_request"],
    ["receive_move_request"],
  ),
  ROUND_RESULT: names(["round_result", "handle_round_result"], ["round_result"], ["receive_round_result"]),
  GAME_END: names(["game_end", "handle_game_end"], ["game_end"], ["receive_game_end"]),
};
