import type { BotObject } from "../sdk.ts";

/** Returns a function that creates the object of a match, for each form of a bot (sdk.ts), or the reason why an export is not a bot. */
export function creatorOf(exported: unknown): (() => BotObject) | string {
  if (isBotObject(exported)) return () => exported;
  if (typeof exported !== "function") {
    return "its default export must be a function from a turn to an action, or an object with choose";
  }
  if (isClass(exported)) {
    if (!isBotObject(resultOf(() => new exported()))) return "its default export is a class without a method choose";
    return () => new exported();
  }
  const object: unknown = exported.length === 0 ? resultOf(() => exported()) : null;
  if (isBotObject(object)) return exported as () => BotObject;
  if (hasMethods(object)) return "its default export returns an object with methods, but without choose";
  return () => ({ choose: exported as BotObject["choose"] });
}

/** Returns the ids in the export `games` of a bot file, undefined if there is none, or the reason why it is not a list of ids. */
export function gamesOf(exported: unknown): readonly string[] | string | undefined {
  if (exported === undefined) return undefined;
  const isList = Array.isArray(exported) && exported.length > 0 && exported.every((id) => typeof id === "string");
  return isList ? exported : 'its export games must be a list of ids, such as ["chess.v1"]';
}

/**
 * Returns the result of the exported function, or null if it throws: an error of the bot is reported in its first match.
 * A promise of an action may be rejected, which would end the process if nothing handled it.
 */
function resultOf(make: () => unknown): unknown {
  try {
    const result = make();
    if (result instanceof Promise) result.catch(() => {});
    return result;
  } catch {
    return null;
  }
}

const isClass = (exported: object): exported is new () => BotObject => /^class\b/.test(String(exported));

const hasMethods = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).some((member) => typeof member === "function");

const isBotObject = (value: unknown): value is BotObject =>
  typeof value === "object" && value !== null && typeof (value as BotObject).choose === "function";
