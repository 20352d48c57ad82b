import { kindOf } from "../../lib/kind-of.ts";
import { jsonOf } from "../../lib/text.ts";
import type { Game } from "../game.ts";
import { type Evidence, Violation } from "./obligation.ts";

/** A call of a game's function that has thrown. */
export class GameThrew extends Error {
  readonly call: string;
  readonly evidence: Evidence;
  readonly thrown: unknown;
  constructor(call: string, args: readonly unknown[], thrown: unknown) {
    super(`${call} throws ${thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)}`);
    this.call = call;
    this.evidence = evidenceOf(call, args);
    this.thrown = thrown;
  }

  /** The place of the game that threw, or the message if the place is not known. */
  get place(): string {
    const frames = this.thrown instanceof Error ? (this.thrown.stack ?? "").split("\n") : [];
    return frames.find((frame) => /^ +at .*file:.*:\d+:\d+/.test(frame)) ?? this.message;
  }

  /** Whether the function has written to an argument, which the check has frozen. */
  get isMutation(): boolean {
    return (
      this.thrown instanceof TypeError && /read only|not extensible|Cannot delete property/.test(this.thrown.message)
    );
  }
}

function evidenceOf(call: string, [first, second, third]: readonly unknown[]): Evidence {
  if (call === "initialState") return first as Evidence;
  const viewer = call === "viewState" || call === "toText";
  return {
    state: first,
    ...(typeof second === "string" && (viewer ? { viewer: second } : { role: second })),
    ...(third !== undefined && { action: third }),
  };
}

/** The change of a game whose values are not plain JSON. */
export const JSON_ONLY =
  "use text, numbers, true, false, null, lists and objects only: no undefined, NaN, dates, maps or classes";

/** A call of a game's function that has returned a value of a wrong type. */
export class WrongValue extends Violation {}

interface Returned {
  /** The value as a noun, e.g. "a list of roles". */
  readonly value: string;
  readonly advice?: string;
  isRight(value: unknown): boolean;
}

/** Whether a value is no Promise and can be written as JSON. A function, a BigInt and an object that contains itself cannot. */
const isValue = (value: unknown): boolean => !(value instanceof Promise) && jsonOf(value) !== "";

function isResult(value: unknown): boolean {
  const { ok, value: next } = (value ?? {}) as { readonly ok?: unknown; readonly value?: unknown };
  return ok === false || (ok === true && isValue(next));
}

/** The values that the functions of a game return. Only their types: the obligations check the content. */
const RETURNED: Readonly<Record<string, Returned>> = {
  initialState: { value: "a JSON value", advice: JSON_ONLY, isRight: isValue },
  toAct: { value: "a list of roles", isRight: Array.isArray },
  legalActions: { value: "a list of actions", isRight: Array.isArray },
  applyAction: { value: "ok(nextState) with a JSON value, or err({ message })", isRight: isResult },
  isTerminal: { value: "true or false", isRight: (value) => typeof value === "boolean" },
  outcome: {
    value: "null or { scores, reason }",
    advice: "return null while the game goes on, and { scores, reason } when it is over",
    isRight: (value) => typeof value === "object" && isValue(value),
  },
  viewState: { value: "a JSON value", advice: JSON_ONLY, isRight: isValue },
  toText: { value: "a text", isRight: (value) => typeof value === "string" },
  rounds: { value: "a list of rounds", isRight: Array.isArray },
};

function checkReturned(call: string, args: readonly unknown[], actual: unknown): void {
  const returned = RETURNED[call];
  if (returned === undefined) return;
  const { value, advice = `return ${value}`, isRight } = returned;
  const isPromise = actual instanceof Promise;
  if (isPromise) actual.catch(() => {}); // nothing awaits it, and its rejection would end the process
  if (isRight(actual)) return;
  const problem = `${call} returns ${kindOf(actual)}, not ${value}`;
  const change = isPromise ? "remove async: the functions of a game return their values directly" : advice;
  throw new WrongValue(problem, { ...evidenceOf(call, args), actual }, change);
}

/**
 * Returns a game whose functions report exceptions as GameThrew and values of a wrong type as WrongValue. Functions of the game
 * that call each other are not observed.
 */
export const observed = (game: Game): Game =>
  new Proxy(game, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      const call = String(name);
      return (...args: unknown[]) => {
        const returned = resultOf(call, args, () => member.apply(target, args));
        checkReturned(call, args, returned);
        return returned;
      };
    },
  });

function resultOf(call: string, args: readonly unknown[], run: () => unknown): unknown {
  try {
    return run();
  } catch (thrown) {
    throw new GameThrew(call, args, thrown);
  }
}
