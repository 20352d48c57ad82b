import { inspect } from "node:util";
import type { Clock } from "#shared/lib/clock.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { kindOf } from "#shared/lib/text.ts";
import type { BotObject, Turn } from "../sdk.ts";
import type { TurnData } from "./messages.ts";

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

interface TurnParts {
  readonly history: Turn["history"];
  readonly signal: AbortSignal;
  readonly log: Turn["log"];
  readonly clock: Clock;
}

/** Builds the turn that the bot receives. */
export function turnOf(data: TurnData, { history, signal, log, clock }: TurnParts): Turn {
  const { game, role, view, tick, legal, rejection, deadline, remainingMs, clocks, seed } = data;
  const endsAt = clock.monotonic() + remainingMs;
  let random: Random | undefined;
  return {
    game,
    role,
    view: view as Turn["view"],
    tick,
    history,
    rejection,
    clock: { deadline: new Date(deadline), remainingMs: () => endsAt - clock.monotonic(), match: clocks },
    signal,
    log,
    get legal() {
      if (legal === null) throw new Error(`${game} is unknown to this player, and the request has no legal_actions`);
      return legal as Turn["legal"];
    },
    get random() {
      random ??= createRandom(seed);
      return random;
    },
  };
}

/** A bot returned no action. The message says what it returned, without the content, so that the referee may receive it. */
export class NotAnAction extends Error {}

/** Whether JSON has no such value: NaN, Infinity and BigInts. */
const isForeign = (value: unknown): boolean =>
  typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value));

/** Returns a value that a bot returned. Throws NotAnAction if JSON would change it to null, or cannot contain it. */
export function checkedAction(action: unknown): unknown {
  if (typeof action === "function" || typeof action === "symbol") throw notJson(kindOf(action));
  const foreign: unknown[] = [];
  try {
    JSON.stringify(action, (_key, value: unknown) => {
      if (!isForeign(value)) return value;
      foreign.push(value);
      return null;
    });
  } catch (thrown) {
    const isCircular = thrown instanceof TypeError && thrown.message.startsWith("Converting circular structure");
    throw isCircular ? notJson(`${kindOf(action)} that contains itself`) : thrown;
  }
  if (foreign.length === 0) return action;
  const [first] = foreign;
  throw notJson(isForeign(action) ? kindOf(action) : `${kindOf(action)} that contains ${kindOf(first)}`);
}

const notJson = (returned: string): NotAnAction =>
  new NotAnAction(`the bot returned ${returned}; an action must be a JSON value`);

/** Returns the arguments of `turn.log` as one line: text as it is, other values as Node.js shows them. */
export const logLine = (values: readonly unknown[]): string =>
  values
    .map((value) =>
      typeof value === "string"
        ? value
        : inspect(value, { depth: 10, breakLength: Number.POSITIVE_INFINITY, compact: true }),
    )
    .join(" ");
