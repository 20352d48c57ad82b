import { jsonOf } from "#shared/lib/text.ts";
import type { ForeignMessage } from "#shared/protocol/dialects/forms.ts";
import {
  errorReply,
  type ForeignRequest,
  foreignRequestIn,
  type ReplyHead,
  type RequestType,
  responseBody,
  unknownDialectBody,
} from "#shared/protocol/dialects/incoming-requests.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import { firstText, isTime } from "../../protocol/dialects/fields.ts";

/** Answers one kind of message. */
export type ForeignHandler = (
  request: ForeignRequest,
  head: ReplyHead,
  http: HttpContext,
) => ForeignMessage | Promise<ForeignMessage>;

/** The messages of other dialects that an agent answers. */
export type ForeignHandlers = Partial<Record<Exclude<RequestType, "unknown">, ForeignHandler>> & {
  /** Answers a message of any other type, e.g. that a program is ready; null for a message that is rejected. */
  readonly other?: (request: ForeignRequest, head: ReplyHead) => ForeignMessage | null;
};

/** Answers a request to `/mcp` in another dialect; null for every other request. */
export type AnswerForeign = (body: unknown, http: HttpContext) => Promise<HttpReply> | null;

/** The agent that receives each message. */
const RECEIVERS: Readonly<Record<Exclude<RequestType, "unknown">, string>> = {
  register: "the league manager receives registrations",
  query: "the league manager receives LEAGUE_QUERY",
  join_ack: "the referee of a match receives GAME_JOIN_ACK",
  move: "the referee of a match receives answers to its calls",
  referee: "only referees of the native protocol are accepted, because a result must follow from its log",
};

/** Creates the function that answers the messages of other dialects. `sender` returns the sender of the replies. */
export function foreignMessages(
  handlers: ForeignHandlers,
  sender: () => string,
  clock: Clock,
  ids: Ids,
): AnswerForeign {
  const answer = async (request: ForeignRequest, http: HttpContext): Promise<HttpReply> => {
    const head = { sender: sender(), at: clock.iso(), conversationId: ids.uuid() };
    const other = request.type === "unknown" ? (handlers.other?.(request, head) ?? null) : null;
    if (other) return reply(responseBody(request, other));
    const fault = faultOf(request, handlers);
    if (fault) {
      log(http, request, `${fault.field}: ${fault.text}`);
      return reply(unknownDialectBody(request, fault.field, fault.text));
    }
    const message = await answerTo(request, head, handlers, http);
    if (message.message_type === "LEAGUE_ERROR") log(http, request, `${message.error_code} ${message.reason}`);
    return reply(responseBody(request, message));
  };
  return (body, http) => {
    const request = foreignRequestIn(body);
    return request && answer(request, http);
  };
}

/** Returns the first field that does not fit any dialect or the receiver; null if all fit. */
function faultOf({ type, message, protocol }: ForeignRequest, handlers: ForeignHandlers) {
  if (protocol !== null && !/^league\.v[12](\.|$)/.test(protocol)) {
    return { field: "protocol", text: `${shown(protocol)} is not league.v1 or league.v2` };
  }
  const named = firstText([message], ["message_type", "type"]);
  if (type === "unknown") {
    return { field: "message_type", text: named === null ? "is missing" : `${shown(named)} is not a known message` };
  }
  return handlers[type] ? null : { field: "message_type", text: `${shown(named ?? type)}: ${RECEIVERS[type]}` };
}

const shown = (value: unknown): string => jsonOf(value).slice(0, 100);

function answerTo(
  request: ForeignRequest,
  head: ReplyHead,
  handlers: ForeignHandlers,
  http: HttpContext,
): ForeignMessage | Promise<ForeignMessage> {
  const { timestamp } = request.message;
  if (timestamp !== undefined && timestamp !== null && !isTime(timestamp)) {
    const reason = `timestamp: ${shown(timestamp)} is not a time such as 2025-01-15T10:30:00Z`;
    return errorReply(request, head, "E021", reason, { field: "timestamp" });
  }
  const handler = request.type === "unknown" ? undefined : handlers[request.type];
  return handler ? handler(request, head, http) : errorReply(request, head, "E003", "message_type is missing");
}

const reply = (body: string): HttpReply => ({ status: 200, body });

const log = (http: HttpContext, { message }: ForeignRequest, reason: string): void =>
  http.logRejection?.({
    code: "dialect",
    reason,
    agent: firstText([message], ["sender"]),
    request: firstText([message], ["message_type"]) ?? "POST /mcp",
  });
