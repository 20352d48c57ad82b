/** Reading of fields in messages of other programs, which name and place them differently. */

import { parsedJson } from "../../lib/text.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the value of the first of these names that a message has; undefined if it has none. */
export function first(sources: readonly Fields[], names: readonly string[]): unknown {
  for (const name of names) {
    for (const source of sources) {
      const value = source[name];
      if (value !== undefined && value !== null && value !== "") return value;
    }
  }
  return undefined;
}

/** Returns the value of the first of these names that is a text with visible characters; null if there is none. */
export function firstText(sources: readonly Fields[], names: readonly string[]): string | null {
  for (const name of names) {
    for (const source of sources) {
      const value = source[name];
      if (typeof value === "string" && value.trim() !== "") return value.trim();
    }
  }
  return null;
}

/** The fields in which programs put an object within another one. */
const CONTAINERS = [
  "result",
  "params",
  "arguments",
  "message",
  "envelope",
  "payload",
  "response",
  "data",
  "structuredContent",
  "player_meta",
  "move_data",
  "move_payload",
  "move",
  "action",
  "choice",
  "body",
  "detail",
];
const MAX_OBJECTS = 30;

/**
 * Returns the objects in a value, from the outside to the inside: itself, the objects in the usual containers and JSON in the texts of a tool result.
 * A text or a truth value as the result of a JSON-RPC response is returned as an object with the field `value`.
 */
export function objectsIn(value: unknown): readonly Fields[] {
  const found: Fields[] = [];
  const queue: unknown[] = [value];
  for (const next of queue) {
    if (found.length >= MAX_OBJECTS) break;
    if (!isFields(next)) continue;
    found.push(next);
    for (const name of CONTAINERS) {
      const inner = typeof next[name] === "string" ? objectText(next[name]) : next[name];
      if (isFields(inner)) queue.push(inner);
      else if (
        name === "result" &&
        (typeof inner === "string" || typeof inner === "boolean" || typeof inner === "number")
      )
        queue.push({ value: inner });
    }
    if (Array.isArray(next.content)) for (const part of next.content) queue.push(textOfPart(part));
  }
  return found;
}

/** Returns the value of a text that is a JSON object, and any other text itself. */
function objectText(text: string): unknown {
  const json = text.trimStart().startsWith("{") ? parsedJson(text) : undefined;
  return json === undefined ? text : json;
}

function textOfPart(part: unknown): unknown {
  const text = isFields(part) && typeof part.text === "string" ? part.text : null;
  if (text === null) return null;
  const value = objectText(text);
  return typeof value === "string" ? { value } : value;
}

/** Date and time with a separator, optional fractions of a second and an optional zone. */
const TIME = /^(\d{4})-?(\d\d)-?(\d\d)[T ](\d\d):?(\d\d):?(\d\d)(?:[.,](\d{1,3})\d*)?\s*(Z|[+-]\d\d:?\d\d)?$/i;

/** Whether a value is a time: ISO 8601 with or without zone and fractions, or seconds or milliseconds since 1970. */
export function isTime(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value) && value > 0;
  if (typeof value !== "string") return false;
  const parts = TIME.exec(value.trim());
  if (!parts) return /^\d{9,13}(\.\d+)?$/.test(value.trim());
  const [, year, month, day, hour, minute, second] = parts;
  return !Number.isNaN(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`));
}

/** Returns an ISO time in whole seconds, which every program reads. */
export const wholeSeconds = (iso: string): string => iso.replace(/\.\d+(?=Z$|\+00:00$)/, "").replace("+00:00", "Z");

/** Returns the id in a sender such as `player:P01`, `players:P01` or `P01`. */
export const idOfSender = (sender: string): string => sender.slice(sender.indexOf(":") + 1).trim();
