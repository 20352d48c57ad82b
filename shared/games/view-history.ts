/** The path of a list within a view, as field names: `["series", "previous_rounds"]`. It has at most `MAX_PATH_FIELDS` names. */
export type HistoryPath = readonly [string, ...string[]];

export const MAX_PATH_FIELDS = 5;

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

/** Returns a copy of a view without the list at a path at which it has a list. */
function withoutHistory(view: unknown, [field, ...rest]: HistoryPath): unknown {
  const { [field]: value, ...others } = view as Readonly<Record<string, unknown>>;
  const [next, ...further] = rest;
  return next === undefined ? others : { ...others, [field]: withoutHistory(value, [next, ...further]) };
}

/** What a game says about the history in its views. */
interface HistoryInfo {
  readonly history?: HistoryPath;
  readonly historyForPrograms?: true;
}

/** Returns a view as pages and tools show it: without a history that only programs need. */
export function shownView({ history, historyForPrograms }: HistoryInfo, view: unknown): unknown {
  return history && historyForPrograms && historyIn(view, history) ? withoutHistory(view, history) : view;
}

/** The part of its history that a view lacks: the first `from` elements of a list. */
interface Omitted {
  readonly list: HistoryPath;
  readonly from: number;
}

/**
 * Returns a view with the elements of its history that were left out, which are taken from an earlier complete view of the same viewer. Returns null
 * if the earlier view does not have them.
 */
export function completeView(view: unknown, { list, from }: Omitted, earlier: unknown): unknown {
  const [known, added] = [historyIn(earlier, list), historyIn(view, list)];
  if (!known || !added || from > known.length) return null;
  return withHistory(view, list, [...known.slice(0, from), ...added]);
}

/** Returns a view with its own copy of its history, so that a change of the list in the other view has no effect. */
export function withOwnHistory(view: unknown, path: HistoryPath): unknown {
  const list = historyIn(view, path);
  return list ? withHistory(view, path, [...list]) : view;
}
