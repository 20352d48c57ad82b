import { z } from "zod";
import { MESSAGE_TOOLS, type ToolFamily } from "./tool-names.ts";

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
  ...["protocol", "message_type", "sender", "timestamp", "conversation_id", "message_id", "auth_token"],
  ...["league_id", "round_id", "match_id", "game_type"],
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
