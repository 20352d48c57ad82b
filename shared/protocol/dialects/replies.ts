import { type ClassroomCode, errorOf } from "./codes.ts";
import { dialectIds } from "./dialect.ts";
import { type Fields, firstText, wholeSeconds } from "./fields.ts";
import { type ForeignMessage, splitMessage } from "./forms.ts";
import type { ForeignRequest } from "./requests.ts";

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
