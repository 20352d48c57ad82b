import { BUILT_IN_BOTS } from "#shared/games/built-in-bots.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { VERSION } from "#shared/runtime/program.ts";

/** The longest value that is written on one line. */
const LINE = 120;

/** The name of the only field of an object that stands for a text with JSON, so that its fields are compared one by one. */
const JSON_IN_TEXT = "JSON in a text";

/** Returns a JSON value as text for people: objects and lists on one line if they are short, else with one line for each element. */
export function jsonText(value: unknown, indent = ""): string {
  const text = JSON.stringify(value) ?? "undefined";
  if (typeof value === "string") {
    const inner = innerJson(value);
    return inner === undefined ? text : jsonText({ [JSON_IN_TEXT]: inner }, indent);
  }
  if (typeof value !== "object" || value === null) return text;
  // A text with JSON in it is never on the line of its object, so that its fields are compared one by one.
  if (text.length <= LINE && !/[^\\]"[{[]/.test(text)) return text;
  const deeper = `${indent} `;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const elements = Array.isArray(value)
    ? value.map((one) => jsonText(one, deeper))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${jsonText(one, deeper)}`);
  return `${open}\n${elements.map((element) => `${deeper}${element}`).join(",\n")}\n${indent}${close}`;
}

/** Returns the JSON in a text; undefined if the text is not JSON in the form that JSON.stringify writes. */
function innerJson(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

const VERSION_IN_TEXT = new RegExp(`(?<![\\d.])${VERSION.replaceAll(".", "\\.")}(?![\\d.]|-)`, "g");

/** The hashes of the built-in bots, which contain the version of the program (`player/loaded-bot.ts`). */
const BOT_HASHES = Object.keys(BUILT_IN_BOTS).map(
  (name) => [sha256Hex(`built-in bot ${name} ${VERSION}`), `<hash of ${name}>`] as const,
);

/** Replaces the version of the program and the hashes of built-in bots, which depend on it. */
export function withoutVersion(text: string): string {
  let masked = text.replaceAll(VERSION_IN_TEXT, "<version>");
  for (const [hash, name] of BOT_HASHES) masked = masked.replaceAll(hash, name);
  return masked;
}
