import { isJSONRPCResponse } from "json-rpc-2.0";
import { z } from "zod";
import { err, messageOf, ok, type Result } from "../../lib/result.ts";
import { asText, jsonOf, parsedJson } from "../../lib/text.ts";
import { Envelope, faultsText } from "../../protocol/envelope.ts";
import { faultOfSender } from "../../protocol/senders.ts";
import { type CallFault, parsed, RAW_LIMIT, type RawReply } from "./call.ts";

const ToolReply = z.compile(
  z.object({
    content: z.array(z.object({ type: z.string(), text: z.string().optional() })).optional(),
    structuredContent: z.unknown().optional(),
    isError: z.unknown().optional(),
  }),
);

/** Whether a reply has a status from 200 to 299. */
export const is2xx = ({ status }: RawReply): boolean => status >= 200 && status < 300;

/**
 * Returns the envelope in the answer to the call with JSON-RPC id `id`, whose envelope had the id `messageId`. Answers are untrusted input: an
 * answer that cannot be read is a fault of its sender, never an exception.
 */
export function envelopeIn(answer: RawReply, id: number, messageId: string): Result<Envelope, CallFault> {
  try {
    const result = resultOf(answer, id);
    return result.ok ? envelopeOf(result.value, messageId) : result;
  } catch (thrown) {
    const raw = answer.text.slice(0, RAW_LIMIT);
    return err({ cause: "bad_reply", detail: `the answer cannot be read: ${messageOf(thrown)}`, raw });
  }
}

/** Returns the result in a JSON-RPC response, or the fault of a response without one. */
function resultOf(answer: RawReply, id: number): Result<unknown, CallFault> {
  const { status, text } = answer;
  const raw = text.slice(0, RAW_LIMIT);
  const ok2xx = is2xx(answer);
  const fault = (cause: CallFault["cause"], detail: string) =>
    err(ok2xx ? { cause, detail, raw } : { cause, detail, raw, status });
  const json = answer.json === undefined ? parsed(text) : answer.json;
  if (json === null) return ok2xx ? fault("bad_json", "the answer is not JSON") : fault("http_error", `HTTP ${status}`);
  const reply = json.value;
  if (reply === null || !isJSONRPCResponse(reply)) {
    return ok2xx ? fault("bad_reply", "the answer is not a JSON-RPC response") : fault("http_error", `HTTP ${status}`);
  }
  if (reply.error) {
    const { code, message, data } = reply.error;
    const rejectedFields = rejectedFieldsIn(data);
    const dataText = data === undefined ? "" : ` ${jsonOf(data).slice(0, 300)}`;
    const suffix = rejectedFields === null ? dataText : `; ${rejectedFields}`;
    const detail = `JSON-RPC error ${asText(code).slice(0, 20)}: ${asText(message).slice(0, 200)}${suffix}`;
    const failed = ok2xx ? fault("bad_reply", detail) : fault("http_error", `HTTP ${status}, ${detail}`);
    return rejectedFields === null ? failed : err({ ...failed.error, rejectedFields });
  }
  if (!ok2xx) return fault("http_error", `HTTP ${status}`);
  if (reply.id !== id) return fault("bad_reply", `the answer has id ${jsonOf(reply.id).slice(0, 200)}, not ${id}`);
  return ok(reply.result);
}

/** The `data` of a JSON-RPC error -32602 that an agent of this project sends. */
const FaultData = z.object({ faults: z.array(z.object({ path: z.string(), message: z.string() })).min(1) });

/** Returns the paths and messages of the rejected fields as one line; null if the error data has another form. */
function rejectedFieldsIn(data: unknown): string | null {
  const parsed = FaultData.safeParse(data);
  return parsed.success ? faultsText(parsed.data.faults) : null;
}

/** Returns the envelope in a tool result: the first text if it is JSON, otherwise the structured content. It must answer the message `messageId`. */
function envelopeOf(result: unknown, messageId: string): Result<Envelope, CallFault> {
  const fault = (cause: CallFault["cause"], detail: string) =>
    err({ cause, detail, raw: jsonOf(result).slice(0, RAW_LIMIT) });
  const tool = ToolReply.safeParse(result);
  if (!tool.success) return fault("bad_reply", "the answer is not a tool result");
  const text = tool.data.content?.find((part) => part.type === "text")?.text;
  const inText = text === undefined ? undefined : parsedJson(text);
  const value = inText === undefined ? tool.data.structuredContent : inText;
  if (text !== undefined && value === undefined) {
    if (tool.data.isError === true) return fault("bad_reply", toolError(text));
    return fault("bad_json", "the text of the answer is not JSON");
  }
  const envelope = Envelope.safeParse(value);
  if (!envelope.success && tool.data.isError === true) return fault("bad_reply", toolError(text ?? jsonOf(value)));
  if (!envelope.success) {
    const issue = envelope.error.issues[0];
    const reason = `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
    return fault("bad_reply", `the answer is not a league.v2 envelope: ${reason}`);
  }
  const { type, sender, correlation_id } = envelope.data;
  const wrongSender = faultOfSender(type, sender);
  if (wrongSender !== null) return fault("bad_reply", wrongSender);
  if (correlation_id != null && correlation_id !== messageId) {
    return fault(
      "bad_reply",
      `the answer's correlation_id is ${correlation_id}, and the message_id of the request is ${messageId}`,
    );
  }
  return ok(envelope.data);
}

const toolError = (text: string): string => `the tool reports an error: ${text.slice(0, 300)}`;
