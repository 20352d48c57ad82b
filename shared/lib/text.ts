/**
 * Joins parts into one flat string. V8 represents concatenated strings (`+`, templates, `randomUUID`) as ropes.
 * JSON.stringify leaves its fast path at the first rope in an object and then takes twice the time. Use this function
 * for fields of messages and log entries.
 */
export const flat = (...parts: readonly string[]): string => parts.join("");

/**
 * Returns an untrusted value as JSON text, or an empty string if it cannot be serialized, e.g. because it is nested too
 * deeply. Never throws.
 */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** Returns a text without its byte order mark, which some editors and programs write at the start, and which is not JSON. */
export const withoutByteOrderMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text);

/**
 * Parses untrusted JSON text, with or without a byte order mark. Returns undefined if it is invalid; no JSON text has
 * this value.
 */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    return undefined;
  }
}

/**
 * Returns whether the arrays and objects of a JSON value are nested more than `levels` deep. It is not recursive,
 * because a deep value would exhaust the call stack.
 */
export function isDeeperThan(levels: number, value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** Escapes a text for HTML, between tags or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Returns an untrusted value as text for people: a string unchanged, any other value as JSON. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : jsonOf(value));

/** Control characters, line breaks, characters that change the direction of the text, and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/**
 * Zero-width characters, with which two different names can look alike. Joiners are allowed, because scripts and emoji
 * need them.
 */
const ZERO_WIDTH = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2060-\u2064\u206A-\u206F\u3164\uFEFF\uFFA0]/u;

/**
 * Returns whether a text can be a name: one line with at least one visible character and without control or zero-width
 * characters.
 */
export const isName = (text: string): boolean =>
  !UNPRINTABLE.test(text) && !ZERO_WIDTH.test(text) && /[^\p{C}\p{Z}]/u.test(text);

/** Returns whether a text can be an id: at least one character, and no spaces, control characters or zero-width characters. */
export const isId = (text: string): boolean => /^[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\u3164\uFFA0]+$/u.test(text);

/** Returns untrusted text on one line, without control characters. */
export const inOneLine = (text: string): string => text.replace(new RegExp(UNPRINTABLE, "gu"), " ");

/** Returns a text with its control and zero-width characters as escapes: `\u{200b}`. */
export const escapeUnprintable = (text: string): string =>
  text.replace(new RegExp(`${UNPRINTABLE.source}|${ZERO_WIDTH.source}`, "gu"), escaped);
const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Returns JSON text with the same characters, except line breaks, as JSON escapes. Terminals do not interpret them, and
 * the text is parsed to the same value.
 */
export const escapeJson = (json: string): string =>
  json.replace(
    new RegExp(`(?!\\n)(?:${UNPRINTABLE.source}|${ZERO_WIDTH.source})`, "gu"),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Returns a count with its noun: "1 match", "2 matches". */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : plural}`;

/** Returns a text cut to a number of UTF-16 units, with an ellipsis if it was longer. */
export const cutTo = (units: number, text: string): string =>
  text.length <= units ? text : `${text.slice(0, units)}…`;
