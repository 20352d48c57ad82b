/**
 * Joins parts into one flat string. V8 joins strings lazily, as ropes (`+`, templates, `randomUUID`), and JSON.stringify leaves its fast
 * path at the first rope in an object and takes twice the time. Use it for fields of every message or entry.
 */
export const flat = (...parts: readonly string[]): string => parts.join("");

/** An untrusted value as JSON text; empty when it cannot be serialized, e.g. because it is nested too deeply. Never throws. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** Parses untrusted JSON text; undefined when it is invalid (no JSON text has this value). */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the lists and objects of a JSON value are nested more than `levels` deep. Not recursive: a deep value would exhaust the call stack. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** Escapes a text for HTML, between tags or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** An untrusted value as text for people: a text unchanged, any other value as JSON. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : jsonOf(value));

/** Control characters, line breaks, characters that change the direction of the text, and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** Characters without width, with which two different names can look alike. Joiners are allowed, because scripts and emoji need them. */
const ZERO_WIDTH = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2060-\u2064\u206A-\u206F\u3164\uFEFF\uFFA0]/u;

/** Whether a text can be a name: one line with at least one visible character, no control characters and no characters without width. */
export const isName = (text: string): boolean =>
  !UNPRINTABLE.test(text) && !ZERO_WIDTH.test(text) && /[^\p{C}\p{Z}]/u.test(text);

/** Untrusted text on one line, without control characters. */
export const inOneLine = (text: string): string => text.replace(new RegExp(UNPRINTABLE, "gu"), " ");

/** A text with its control characters and characters without width as escapes: `\u{200b}`. */
export const escapeUnprintable = (text: string): string =>
  text.replace(new RegExp(`${UNPRINTABLE.source}|${ZERO_WIDTH.source}`, "gu"), escaped);
const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** JSON text with the same characters, except line breaks, as JSON escapes: no terminal interprets them, and the text is parsed to the same value. */
export const escapeJson = (json: string): string =>
  json.replace(
    new RegExp(`(?!\\n)(?:${UNPRINTABLE.source}|${ZERO_WIDTH.source})`, "gu"),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** "1 match", "2 matches". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** The first UTF-16 units of a text that is longer, and an ellipsis. */
export const cutTo = (units: number, text: string): string =>
  text.length <= units ? text : `${text.slice(0, units)}…`;
