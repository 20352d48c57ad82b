import { isDeepStrictEqual } from "node:util";
import { sha256Hex } from "../../lib/hash.ts";

/** Returns a value as JSON with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Returns a value after a round trip through JSON. */
export function throughJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : JSON.parse(text);
}

/** Whether a value is unchanged by a round trip through JSON. */
export const isPlainJson = (value: unknown): boolean =>
  value !== undefined && isDeepStrictEqual(throughJson(value), value);

export const stateHash = (state: unknown): string => sha256Hex(canonicalJson(state));

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
