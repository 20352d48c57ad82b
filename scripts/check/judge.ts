import { asText, counted, cutTo, inOneLine, jsonOf, parsedJson } from "#shared/lib/text.ts";
import { Envelope, fieldFaults } from "#shared/protocol/envelope.ts";
import type { AskFault } from "../../referee/match/player-messages.ts";
import type { Call, Overrun } from "./caller.ts";
import type { Finding } from "./check.ts";
import { type Exchange, isInboxUrl, type Reply } from "./exchange.ts";
import { type PlayedMatch, settingText } from "./matches.ts";

/** Judges a played match by its result and its calls, in the order of their answers. Returns null if every answer was correct. */
export function judgeMatch(
  { order, game, role, result }: PlayedMatch,
  calls: readonly Call[],
  playerId: string,
): Finding | null {
  const asked = calls.filter(({ isNotification }) => !isNotification);
  const fault = result?.faults.find((one) => one.player_id === playerId);
  const rejected = firstRejected(fault ? lastTurn(asked) : asked);
  const call = rejected?.call ?? (fault && asked.at(-1));
  const detail = rejected?.reason ?? fault?.detail;
  if (!call || detail === undefined) return null;
  const cause = fault?.cause === "declined" ? "declined" : isIllegal(detail) ? "illegal_move" : "bad_reply";
  const { summary, advice } = explainAsk({ code: "G001", cause, detail }, call, playerId);
  const { tick } = call.message.payload;
  const setting = settingText(order.options);
  const place = `${game.id}${setting === "" ? "" : ` with ${setting}`} as ${role}${tick === undefined ? "" : `, tick ${asText(tick)}`}`;
  const corrected = fault ? "" : "; a later answer of this turn was accepted";
  const exchanges = call.exchanges.slice(-1);
  return { severity: fault ? "fail" : "warn", summary: `${place}: ${summary}${corrected}`, advice, exchanges };
}

const isIllegal = (detail: string): boolean => detail.startsWith("illegal move");

/** The calls with the type and the tick of the last call. */
function lastTurn(asked: readonly Call[]): readonly Call[] {
  const last = asked.at(-1)?.message;
  return asked.filter(({ message }) => message.type === last?.type && message.payload.tick === last?.payload.tick);
}

/** The first call whose answer was rejected, with the reason that the next request of the turn contains; null if none was. */
function firstRejected(asked: readonly Call[]): { readonly call: Call; readonly reason: string } | null {
  for (const [index, { message }] of asked.entries()) {
    const { error } = message.payload as { readonly error?: { readonly message?: unknown } };
    const before = asked[index - 1];
    if (error && before) return { call: before, reason: asText(error.message) };
  }
  return null;
}

/** Joins findings with the same advice: the first one remains, and its summary states how many other matches or messages have the fault. */
export function joined(findings: readonly Finding[], unit: "match" | "message"): readonly Finding[] {
  const groups = Map.groupBy(findings, ({ severity, advice }) => `${severity} ${advice}`);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first || others.length === 0) return first ?? [];
    const plural = unit === "match" ? "matches" : "messages";
    return {
      ...first,
      summary: `${first.summary} (the same with ${counted(others.length, `other ${unit}`, `other ${plural}`)})`,
    };
  });
}

const NO_ANSWER =
  "Answer every POST immediately, and read exactly content-length bytes of the request: a handler that waits for more never answers.";

const FOREIGN_ADVICE =
  "Answer with a JSON-RPC response whose result contains the fields of the answer, for example accept: true or parity_choice.";

const HAS_ENDED =
  "Read the output of your program: it has answered earlier requests and has ended since. Catch the exceptions of your handler.";

const UNANSWERED_INBOX =
  "Poll the inbox in a loop, and send for each request a JSON-RPC response with its id in the array of the next poll (PROTOCOL.md, Inbox).";

const MORE_TIME = "--move-ms gives more time in this check, timeouts.move_ms in the config of a league.";

const ACCEPT_FIRST = "Answer an invitation as soon as it arrives, and prepare for the match after the answer.";

/** Explains a call that has no answer within its time limit, by what the check knows about the cause. */
function explainOverrun({ limitMs, by }: Overrun, detail: string, type: string): Explanation {
  if (by === "bot") {
    const advice = `Return a move before the deadline of the turn, and look for a loop or a promise without an end. ${MORE_TIME}`;
    return { summary: `the bot took longer than ${Math.round(limitMs)} ms`, advice };
  }
  if (by.answerMs === null) {
    return { summary: `${detail}, and no later answer to a request that was sent again`, advice: NO_ANSWER };
  }
  const again = `a request that was sent again was answered after ${by.answerMs} ms`;
  const advice = type === "GAME_INVITE" ? ACCEPT_FIRST : `Answer before the deadline of the request. ${MORE_TIME}`;
  return { summary: `the player took longer than ${Math.round(limitMs)} ms; ${again}`, advice };
}

/** Explains why a call has no usable answer. Returns null if it has one. */
export function explainCall({ message, answer, exchanges, isNative, overrun, wasAnswered }: Call): Explanation | null {
  if (answer.ok) return null;
  const { cause, detail, isNothingListening } = answer.error;
  const last = exchanges.at(-1);
  if (cause === "too_large")
    return { summary: detail, advice: "An answer has at most 256 kB; send only the fields of PROTOCOL.md." };
  if (last?.reply && last.fault !== null) return explainReply(last);
  if (!isNative && last?.reply) return { summary: inOneLine(detail), advice: FOREIGN_ADVICE };
  const isInInbox = isInboxUrl(last?.url ?? "");
  if (isInInbox && (cause === "timeout" || cause === "refused")) {
    return { summary: `the request in the inbox is not answered (${detail})`, advice: UNANSWERED_INBOX };
  }
  if (cause === "timeout")
    return overrun ? explainOverrun(overrun, detail, message.type) : { summary: detail, advice: NO_ANSWER };
  if (cause === "refused" && isNothingListening && wasAnswered) {
    return { summary: `the program does not listen any more (${last?.fault ?? detail})`, advice: HAS_ENDED };
  }
  if (cause === "refused") return explainRefused(last?.fault ?? detail, isNothingListening ?? false);
  return (
    (last && explainReply(last)) ?? { summary: detail, advice: "PROTOCOL.md, section 2, shows the form of an answer." }
  );
}

function explainRefused(detail: string, isNothingListening: boolean): Explanation {
  return isNothingListening
    ? {
        summary: `no program listens at the endpoint (${detail})`,
        advice:
          "Start the server before you register, keep it running, and register the address and port at which it listens.",
      }
    : {
        summary: `the connection was closed before the end of the reply (${detail})`,
        advice:
          "Catch all exceptions of your handler, and send a content-length that is the number of bytes of the body.",
      };
}

/** Explains the fault of a player that was asked for an acceptance or a move. `call` is the call that shows it. */
export function explainAsk(fault: AskFault, call: Call | undefined, playerId: string): Explanation {
  const summary = inOneLine(fault.detail);
  if (call && !call.answer.ok) return explainCall(call) ?? { summary, advice: NO_ANSWER };
  const reply = call?.answer.ok ? call.answer.value : null;
  return { summary, advice: adviceFor(fault, reply, call?.message.type ?? "", playerId) };
}

function adviceFor({ cause }: AskFault, reply: Envelope | null, asked: string, playerId: string): string {
  if (cause === "declined")
    return "Accept every invitation to a game that you register in game_types: accept must be true.";
  if (cause === "illegal_move") return "Return one of legal_actions as move, unchanged and with the same type.";
  if (!reply) return NO_ANSWER;
  const { type, sender, payload } = reply;
  const expected = asked === "GAME_INVITE" ? "GAME_INVITE_RESPONSE" : "MOVE_RESPONSE";
  if (type === "LEAGUE_ERROR" || type === "GAME_ERROR") return adviceForError(payload);
  if (type !== expected) return `Answer ${asked} with an envelope of the type ${expected}.`;
  if (sender !== `player:${playerId}`) {
    return `Set sender to player:${playerId}: the id is player_id of the registration answer, and roles[your_role] of the invitation.`;
  }
  return asked === "GAME_INVITE"
    ? "Send the payload {match_id, accept}: copy match_id from the invitation; accept is true or false."
    : "Send the payload {match_id, tick, move}: copy match_id and tick from the request.";
}

function adviceForError({ error_code, message }: Readonly<Record<string, unknown>>): string {
  if (error_code === "L004") {
    return "Check signatures with the token of your last registration (PROTOCOL.md, section 3); for a player that is registered elsewhere, use --token-file.";
  }
  if (error_code === "G003")
    return "Keep the match from its GAME_INVITE to its GAME_RESULT, by league_id and match_id.";
  if (error_code === "G001")
    return `Correct the error in your bot; the output of the player shows it (${cutTo(100, inOneLine(asText(message)))}).`;
  return "Answer the request with the expected message, not with an error; the message of the error names the reason.";
}

/** A fault of an answer and one line on how to fix it. */
export interface Explanation {
  readonly summary: string;
  readonly advice: string;
}

type Json = Readonly<Record<string, unknown>>;

const FORM =
  '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "ENVELOPE AS A JSON STRING"}]}}';
const ANSWER_FORM = `Answer with ${FORM}, where ID is the id of the request.`;

/** Explains the first fault in the form of a native reply: HTTP, JSON, JSON-RPC, tool result, envelope. Returns null if it has none. */
export function explainReply({ request, reply, fault }: Exchange): Explanation | null {
  if (!reply) return null;
  if (fault !== null) {
    const advice =
      "Send a content-length that is the number of bytes of the body (not of its characters), and send the whole body.";
    const { missingBytes } = reply;
    const missing =
      missingBytes === undefined ? "" : `${counted(missingBytes, "byte")} of its content-length did not arrive: `;
    return { summary: `the reply is incomplete: ${missing}${fault}`, advice };
  }
  const body = parsedJson(reply.body);
  const requested = parsedJson(request) as Json | undefined;
  if (body === undefined) return explainText(reply);
  if (reply.status < 200 || reply.status > 299) return explainStatus(reply, body);
  if (!isObject(body)) return { summary: "the reply is not a JSON object", advice: ANSWER_FORM };
  return explainRpc(body, requested?.id) ?? explainResult(body.result, messageIdIn(requested));
}

/** Explains a body that is not JSON. */
function explainText(reply: Reply): Explanation {
  if (reply.status < 200 || reply.status > 299) return explainStatus(reply, undefined);
  if (reply.body.trim() === "") return { summary: "the reply has no body", advice: ANSWER_FORM };
  if (/^\s*\{'/.test(reply.body)) {
    const summary = "the reply is the text of a Python dictionary, not JSON";
    return { summary, advice: "Write the body with json.dumps(...), not with str(...)." };
  }
  return { summary: "the reply is not JSON", advice: ANSWER_FORM };
}

const STATUS_ADVICE: Readonly<Record<number, string>> = {
  301: "Register the final URL as contact_endpoint: redirects are not followed.",
  302: "Register the final URL as contact_endpoint: redirects are not followed.",
  307: "Register the final URL as contact_endpoint: redirects are not followed.",
  308: "Register the final URL as contact_endpoint: redirects are not followed.",
  401: "Do not require HTTP authentication: the signature of a message is in its auth_token.",
  404: "Serve POST requests at the path of the endpoint, usually /mcp.",
  405: "Accept the method POST at the path of the endpoint.",
  415: "Accept the content type application/json.",
  422: "Accept a JSON-RPC request of the method tools/call; its params.arguments is the envelope.",
  429: "Do not limit the rate of requests from the league, or allow at least 100 a minute.",
  501: "Implement the method POST at the path of the endpoint (do_POST in Python's http.server).",
};

function explainStatus({ status }: Reply, body: unknown): Explanation {
  const error = isObject(body) && isObject(body.error) ? `: ${shortText(body.error.message)}` : "";
  const byDefault =
    status >= 500
      ? "The handler of your program has failed: read its output, and answer requests with the status 200."
      : "Answer requests of the league with the status 200.";
  return { summary: `the reply has the HTTP status ${status}${error}`, advice: STATUS_ADVICE[status] ?? byDefault };
}

/** Explains a fault in the JSON-RPC response. */
function explainRpc(body: Json, id: unknown): Explanation | null {
  if ("protocol" in body || "message_type" in body || "payload" in body) {
    return { summary: "the reply is an envelope without a JSON-RPC response around it", advice: ANSWER_FORM };
  }
  if (body.jsonrpc !== "2.0") return { summary: 'the reply has no field "jsonrpc": "2.0"', advice: ANSWER_FORM };
  if (body.error != null) return explainError(body.error);
  if (!("id" in body)) return { summary: "the reply has no id", advice: ANSWER_FORM };
  if (body.id !== id) {
    const summary = `the reply has the id ${cutTo(60, jsonOf(body.id))}, and the request has the id ${jsonOf(id)}`;
    return { summary, advice: "Return the id of the request unchanged, with the same type." };
  }
  if (!("result" in body)) return { summary: "the reply has neither a result nor an error", advice: ANSWER_FORM };
  return null;
}

function explainError(error: unknown): Explanation {
  const { code, message, data } = isObject(error) ? error : { code: null, message: error, data: undefined };
  const details = data === undefined ? "" : ` ${cutTo(300, jsonOf(data))}`;
  const summary = `the reply is the JSON-RPC error ${shortText(code)}: ${shortText(message)}${details}`;
  const advice =
    code === -32601
      ? 'Accept the method tools/call with params.name "league_message"; params.arguments is the envelope.'
      : "Accept this request, which has the form of PROTOCOL.md; the error says which part your program rejects.";
  return { summary, advice };
}

/** Explains a fault in the tool result and its envelope. */
function explainResult(result: unknown, messageId: unknown): Explanation | null {
  if (!isObject(result)) return { summary: "the result is not an object", advice: ANSWER_FORM };
  if ("protocol" in result || "message_type" in result || "payload" in result) {
    return { summary: "the result is the envelope itself, not the result of a tool", advice: ANSWER_FORM };
  }
  const content: unknown = Array.isArray(result.content) ? result.content[0] : undefined;
  const text = isObject(content) ? content.text : undefined;
  const envelope = text === undefined ? result.structuredContent : typeof text === "string" ? parsedJson(text) : null;
  if (text === undefined && envelope === undefined) {
    return { summary: "the result has no content[0].text", advice: ANSWER_FORM };
  }
  if (typeof text === "object") {
    return { summary: "content[0].text is not a string", advice: "Write the envelope into text as a JSON string." };
  }
  if (envelope === undefined)
    return { summary: `the text of the result is not JSON: ${shortText(text)}`, advice: ANSWER_FORM };
  return explainEnvelope(envelope, messageId);
}

/** Explains why a value is not the envelope of an answer to a message. */
function explainEnvelope(value: unknown, messageId: unknown): Explanation | null {
  const parsed = Envelope.safeParse(value);
  if (!parsed.success) {
    const faults = fieldFaults(parsed.error).map(({ path, message }) => (path === "" ? message : `${path} ${message}`));
    const advice =
      "An envelope has protocol, message_id (a new UUID version 4), type, sender, timestamp (UTC, ending in Z) and payload.";
    return { summary: `the reply is not a league.v2 envelope: ${cutTo(300, inOneLine(faults.join("; ")))}`, advice };
  }
  const { correlation_id } = parsed.data;
  if (correlation_id == null || correlation_id === messageId) return null;
  return {
    summary: `correlation_id is ${shortText(correlation_id)}, and the message_id of the request is ${shortText(messageId)}`,
    advice: "Set correlation_id to the message_id of the request that you answer, or omit it.",
  };
}

const messageIdIn = (request: Json | undefined): unknown => {
  const params = request?.params;
  return isObject(params) && isObject(params.arguments) ? params.arguments.message_id : undefined;
};

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shortText = (value: unknown): string => cutTo(200, inOneLine(asText(value)));
