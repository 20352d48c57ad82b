import { asText, cutTo, inOneLine, parsedJson } from "../../lib/text.ts";
import { type Fields, first, firstText, isFields, objectsIn } from "./fields.ts";

/** The response to a message in another dialect. */
interface Response {
  readonly status: number;
  readonly text: string;
}

/** The content of a response, independent of the places of its fields. */
export interface Reading {
  /** The objects of the response, from the outside to the inside. */
  readonly objects: readonly Fields[];
  /** The error that the response reports in its body or by its HTTP status; null without one. */
  readonly error: string | null;
  /** The error in the body. A body may contain an answer although the HTTP status is that of an error. */
  readonly bodyError: string | null;
  /** Whether the receiver does not know the method or the message, or did not find the message in its place. */
  readonly isUnknown: boolean;
}

const METHOD_NOT_FOUND = -32601;
/** The codes of JSON-RPC errors after which another form may be understood: invalid request, unknown method, invalid params, internal error. */
const FORM_CODES: ReadonlySet<unknown> = new Set([-32600, METHOD_NOT_FOUND, -32602, -32603]);
const UNKNOWN =
  /(unknown|not found|unsupported|not supported|unrecogni[sz]ed|unhandled|no such|not implemented|invalid|missing)[\s_-]*(\w+[\s_-]+){0,3}(method|tool|message|type|handler|request|params?|envelope)|(method|tool|message|type|handler)\b.{0,60}(unknown|not found|not supported|unsupported|not implemented)/i;
const UNKNOWN_STATUS = /^(unknown|unsupported|unhandled|unrecogni[sz]ed|ignored|invalid)/i;

/**
 * Reads a response in any of the known shapes: the answer in `result`, in `params` of a JSON-RPC request, in a body without JSON-RPC, with `error: null`
 * beside `result`, or with an HTTP status of an error and a JSON body.
 */
export function readingOf({ status, text }: Response): Reading {
  const body = parsedJson(text);
  const objects = objectsIn(body);
  const bodyError = errorIn(body, objects);
  const isFailed = status < 200 || status >= 300;
  const error = bodyError ?? (isFailed ? line(`HTTP ${status} ${text}`) : null);
  return { objects, error, bodyError, isUnknown: isUnknown(body, objects, error, status) };
}

function errorIn(body: unknown, objects: readonly Fields[]): string | null {
  const error = isFields(body) ? body.error : undefined;
  if (isFields(error)) return line(`${asText(error.code)}: ${asText(error.message)} ${asText(error.data)}`);
  if (typeof error === "string" && error !== "") return line(error);
  const type = firstText(objects, ["message_type", "type"]) ?? "";
  if (/_ERROR$/i.test(type)) {
    const code = firstText(objects, ["error_code", "code"]) ?? "";
    return line(`${type} ${code} ${firstText(objects, ["error_description", "message", "reason"]) ?? ""}`);
  }
  const inner = first(objects, ["error"]);
  return inner === undefined ? null : line(asText(inner));
}

const line = (text: string): string => cutTo(300, inOneLine(text).trim());

function isUnknown(body: unknown, objects: readonly Fields[], error: string | null, status: number): boolean {
  const rpc = isFields(body) && isFields(body.error) ? body.error : null;
  if (rpc && FORM_CODES.has(rpc.code)) return true;
  if (status === 404 || status === 405 || status === 422) return true;
  if (UNKNOWN.test(error ?? "") || UNKNOWN_STATUS.test(stateOf(objects))) return true;
  return status === 400 || status >= 500;
}

/** Whether a response reports that its receiver has no such method. Other forms of a message are tried then even after one has worked. */
export const isMethodUnknown = (reading: Reading): boolean =>
  reading.objects.some(({ error }) => isFields(error) && error.code === METHOD_NOT_FOUND) ||
  (reading.isUnknown && /unknown|not found|not supported|unsupported/i.test(reading.error ?? stateOf(reading.objects)));

const stateOf = (objects: readonly Fields[]): string => firstText(objects, ["status"]) ?? "";

const ACCEPTING: ReadonlySet<string> = new Set([
  "ACCEPTED",
  "ACCEPT",
  "ACK",
  "JOINED",
  "READY",
  "CONFIRMED",
  "ARRIVED",
]);
const REFUSING: ReadonlySet<string> = new Set(["REJECTED", "DECLINED", "REFUSED", "REJECT", "DECLINE", "BUSY"]);

/** Whether an answer to an invitation accepts it; null if it does not say so. HTTP status 200 alone accepts nothing. */
export function acceptanceIn({ objects, bodyError }: Reading): boolean | null {
  const explicit = truth(first(objects, ["accept", "accepted", "is_accepted", "joined"]));
  if (explicit !== null) return explicit;
  const words = objects.flatMap(({ status, response, decision, value }) => [status, response, decision, value]);
  const states = words.filter((word) => typeof word === "string").map((word) => word.trim().toUpperCase());
  if (states.some((state) => REFUSING.has(state))) return false;
  if (states.some((state) => ACCEPTING.has(state))) return true;
  if (bodyError !== null) return null;
  const type = firstText(objects, ["message_type", "type"]) ?? "";
  if (/^GAME_JOIN_ACK$|^GAME_INVITE_RESPONSE$/i.test(type)) return true;
  return truth(first(objects, ["success"]) ?? first(objects, ["value"]));
}

function truth(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return null;
  if (/^(true|yes|accept(ed)?)$/i.test(value.trim())) return true;
  return /^(false|no|reject(ed)?|decline(d)?)$/i.test(value.trim()) ? false : null;
}

/** The reason of a refusal; null without one. */
export const reasonIn = ({ objects }: Reading): string | null =>
  firstText(objects, ["reason", "reject_reason", "rejection_reason", "detail"]);

const LATER: ReadonlySet<string> = new Set(["RECEIVED", "PENDING", "PROCESSING", "QUEUED", "DEFERRED"]);

/** Whether a response says that its answer will be sent later. */
export const isLater = ({ objects }: Reading): boolean =>
  objects.some(({ status, value }) =>
    [status, value].some((word) => typeof word === "string" && LATER.has(word.trim().toUpperCase())),
  );
