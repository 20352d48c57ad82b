import { inspect, isDeepStrictEqual } from "node:util";
import { sha256Hex } from "../../lib/hash.ts";
import { jsonOf, parsedJson } from "../../lib/text.ts";

/** Returns a value as JSON with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Returns a value after a round trip through JSON; undefined if it cannot be written as JSON. */
export const throughJson = (value: unknown): unknown => parsedJson(jsonOf(value));

/** Whether a value is unchanged by a round trip through JSON. */
export const isPlainJson = (value: unknown): boolean =>
  value !== undefined && isDeepStrictEqual(throughJson(value), value);

/** Returns a value as text for people: as JSON, or as Node.js shows it if it is not plain JSON, e.g. with NaN or undefined. */
export const shownValue = (value: unknown): string =>
  isPlainJson(value) ? JSON.stringify(value) : inspect(value, { depth: 20, breakLength: Infinity, compact: true });

/** A replacer of JSON.stringify: values that JSON does not have become text, e.g. `"NaN"`. */
export function replaceNonJson(_key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value;
  const isObject = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isObject || isPlainJson(value) ? value : shownValue(value);
}

export const stateHash = (state: unknown): string => sha256Hex(canonicalJson(state));

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
