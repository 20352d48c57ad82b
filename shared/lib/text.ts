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

/** Returns the kind of a value as a noun for messages, e.g. "a Promise" or "NaN". */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? "a number" : String(value);
  if (typeof value === "bigint") return "a BigInt";
  if (typeof value === "string") return "a text";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "a list";
  return value instanceof Promise ? "a Promise" : "an object";
}

/**
 * Returns the known word that is nearest to a text, or null if none is near. At most a third of the text's characters
 * may differ.
 */
export function nearest(text: string, known: readonly string[]): string | null {
  const limit = Math.floor(text.length / 3);
  const near = known
    .map((word) => ({ word, distance: distanceOf(text.toLowerCase(), word.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit);
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.word ?? null;
}

/** Returns `. Did you mean "rps.v1"?`, or an empty string if no known word is near. */
export function didYouMean(text: unknown, known: readonly string[]): string {
  const word = typeof text === "string" && text.length <= MAX_LENGTH ? nearest(text, known) : null;
  return word === null ? "" : `. Did you mean ${JSON.stringify(word)}?`;
}

const MAX_LENGTH = 60;

/**
 * Returns the optimal string alignment distance: the number of insertions, deletions, replacements and swaps of
 * neighbouring characters.
 */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
