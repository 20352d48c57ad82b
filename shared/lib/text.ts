/**
 * Parts as one text, written at once. V8 joins texts lazily, as ropes (`+`, templates, `randomUUID`), and JSON.stringify leaves its fast
 * path for good at the first rope that an object holds, at half the speed: so for what every message or entry carries.
 */
export const flat = (...parts: readonly string[]): string => parts.join("");

/** Somebody else's value as JSON; empty where JSON cannot say it, as when it is nested too deep. Never throws. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** What somebody else's text says as JSON, which knows no undefined; undefined when it says nothing. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether lists and objects of a JSON value lie in each other more than so many levels deep. It does not recurse: that would end at the same value. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** A text to stand in HTML, between tags or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Somebody else's value for people: a text as it is, anything else as JSON. */
export const toldAs = (value: unknown): string => (typeof value === "string" ? value : jsonOf(value));

/** What moves a cursor, colours, breaks or turns a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** Characters of no width, which make two names that look alike; joiners stay, because scripts and emoji need them. */
const ZERO_WIDTH = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2060-\u2064\u206A-\u206F\u3164\uFEFF\uFFA0]/u;

/** Whether a text can be a name: something to be seen, on one line, nothing that a terminal would obey, nothing of no width. */
export const isName = (text: string): boolean =>
  !UNPRINTABLE.test(text) && !ZERO_WIDTH.test(text) && /[^\p{C}\p{Z}]/u.test(text);

/** Somebody else's text on one line, with nothing in it that a terminal would obey. */
export const inOneLine = (text: string): string => text.replace(new RegExp(UNPRINTABLE, "gu"), " ");

/** A text that shows its control characters and characters of no width as escapes: `\u{200b}`. */
export const escapeUnprintable = (text: string): string =>
  text.replace(new RegExp(`${UNPRINTABLE.source}|${ZERO_WIDTH.source}`, "gu"), escaped);
const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** JSON text that shows the same characters, except its line breaks, as escapes of JSON: a terminal obeys none of it, and it is parsed to the same value. */
export const escapeJson = (json: string): string =>
  json.replace(
    new RegExp(`(?!\\n)(?:${UNPRINTABLE.source}|${ZERO_WIDTH.source})`, "gu"),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** "1 match", "2 matches". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** The beginning of a text that is longer than so many UTF-16 units, with a mark that it was. */
export const cutTo = (units: number, text: string): string =>
  text.length <= units ? text : `${text.slice(0, units)}…`;
