import { asText, counted, cutTo, inOneLine, jsonOf, parsedJson } from "#shared/lib/text.ts";
import { Envelope, fieldFaults } from "#shared/protocol/envelope.ts";
import type { Exchange, Reply } from "../wire/exchange.ts";

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
