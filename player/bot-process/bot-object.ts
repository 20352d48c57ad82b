import type { BotObject } from "../sdk.ts";

/** A form of a bot (sdk.ts). Both methods call the code of the bot, which may block or end the process. */
export interface BotForm {
  /** Creates the object of a match. */
  create(): BotObject;
  /** Returns the reason why the objects of this bot are invalid; null if they are valid, or if the code throws an error. */
  fault(): string | null;
}

/** Returns the form of a bot, or the reason why an export is not a bot. Does not call the code of the bot. */
export function formOf(exported: unknown): BotForm | string {
  if (isBotObject(exported)) return { create: () => exported, fault: () => null };
  if (typeof exported !== "function") {
    return "its default export must be a function from a turn to an action, or an object with choose";
  }
  if (isClass(exported)) return formOfClass(exported);
  const choose = exported as BotObject["choose"];
  return exported.length === 0 ? formWithoutParameters(choose) : { create: () => ({ choose }), fault: () => null };
}

const formOfClass = (made: new () => BotObject): BotForm => ({
  create: () => new made(),
  fault() {
    const object = resultOf(() => new made());
    return object === null || isBotObject(object) ? null : "its default export is a class without a method choose";
  },
});

/** A function without parameters is the bot, or it creates the object of a match. Only its result shows which. */
function formWithoutParameters(exported: BotObject["choose"]): BotForm {
  const make = exported as () => unknown;
  let isCreator: boolean | null = null;
  const look = (): unknown => {
    const object = resultOf(make);
    isCreator = isBotObject(object);
    return object;
  };
  return {
    create() {
      const object = isCreator === null ? look() : isCreator ? make() : null;
      return isBotObject(object) ? object : { choose: exported };
    },
    fault() {
      const object = look();
      const isFaulty = hasMethods(object) && !isBotObject(object);
      return isFaulty ? "its default export returns an object with methods, but without choose" : null;
    },
  };
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
