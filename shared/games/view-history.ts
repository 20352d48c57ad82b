/** The path of a list within a view, as field names: `["series", "previous_rounds"]`. */
export type HistoryPath = readonly [string, ...string[]];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the list at a path of a view; null if there is no list. */
export function historyIn(view: unknown, [field, ...rest]: HistoryPath): readonly unknown[] | null {
  const value = isObject(view) && Object.hasOwn(view, field) ? view[field] : null;
  const [next, ...further] = rest;
  if (next !== undefined) return historyIn(value, [next, ...further]);
  return Array.isArray(value) ? value : null;
}

/** Returns a copy of a view with another list at a path at which it has a list. */
export function withHistory(view: unknown, [field, ...rest]: HistoryPath, list: readonly unknown[]): unknown {
  const object = view as Readonly<Record<string, unknown>>;
  const [next, ...further] = rest;
  return { ...object, [field]: next === undefined ? list : withHistory(object[field], [next, ...further], list) };
}
