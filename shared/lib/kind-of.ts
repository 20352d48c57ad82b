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
