import { asText, cutTo, escapeUnprintable, parsedJson } from "#shared/lib/text.ts";
import type { Exchange } from "../wire/exchange.ts";

/** An exchange for people: without secrets, and shortened. */
interface ShownExchange {
  readonly from: Exchange["from"];
  /** For example `POST http://127.0.0.1:8150/mcp`. */
  readonly request_line: string;
  readonly request: string;
  /** For example `200 application/json, 3 ms`, or the reason why there is no complete reply. */
  readonly reply_line: string;
  readonly reply: string;
}

const MAX_CHARACTERS = 1_200;
/** The longest list and string in a shown JSON text. */
const MAX_ITEMS = 6;
const MAX_STRING = 160;
const HIDDEN = "[hidden]";
const SECRET_FIELD = /token$|^(auth|authorization|secret|join_code)$/i;

/** Returns an exchange for people. `secrets` are texts that must not be shown wherever they appear. */
export function shownExchange(exchange: Exchange, secrets: readonly string[]): ShownExchange {
  const { from, method, url, request, reply, fault, durationMs } = exchange;
  const type = reply?.contentType ? ` ${reply.contentType}` : "";
  const status = reply ? `${reply.status}${type}` : "no reply";
  return {
    from,
    request_line: `${method} ${url}`,
    request: shownBody(request, secrets),
    reply_line: hidden(`${status}${fault === null ? "" : ` (${fault})`}, ${durationMs} ms`, secrets),
    reply: shownBody(reply?.body ?? "", secrets),
  };
}

/** Returns a body without secrets, shortened. JSON remains JSON, and other text is cut. */
export function shownBody(body: string, secrets: readonly string[]): string {
  const value = parsedJson(body);
  const text = value === undefined ? hiddenInText(body) : JSON.stringify(shortened(value));
  return cutTo(MAX_CHARACTERS, escapeUnprintable(hidden(text, secrets)));
}

/** Hides the values of secret fields in text that is not JSON but may contain parts of it. */
const hiddenInText = (text: string): string =>
  text.replace(/((?:token|join_code)\\?["']\s*[:=]\s*\\?["'])[^"'\\]*/gi, `$1${HIDDEN}`);

/** Returns a text without secrets. */
export const hidden = (text: string, secrets: readonly string[]): string =>
  secrets.filter((secret) => secret.length >= 8).reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);

/** Returns a JSON value with short lists and strings and without the values of secret fields. JSON text in a string is shortened as JSON. */
function shortened(value: unknown, name = "", depth = 0): unknown {
  if (depth > 30) return "…";
  if (SECRET_FIELD.test(name) && value !== null) return HIDDEN;
  if (typeof value === "string") return shortenedText(value, depth);
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => shortened(item, "", depth + 1));
    return value.length > MAX_ITEMS ? [...items, `… ${value.length - MAX_ITEMS} more`] : items;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, key, depth + 1)]));
}

function shortenedText(text: string, depth: number): string {
  const inner = /^\s*[{[]/.test(text) ? parsedJson(text) : undefined;
  if (inner !== undefined) return asText(JSON.stringify(shortened(inner, "", depth + 1)));
  return cutTo(MAX_STRING, hiddenInText(text));
}
