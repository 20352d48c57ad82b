import type { Game, Role, Viewer } from "#shared/games/game.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { jsonOf, kindOf } from "#shared/lib/text.ts";
import { canonicalJson, deepFreeze } from "./values.ts";

/** The values that show a violation. A field is absent if it does not matter. */
export interface Evidence {
  readonly options?: unknown;
  /** The seed of the game that was played at random. */
  readonly seed?: string;
  /** The number of actions before the state. */
  readonly step?: number;
  readonly state?: unknown;
  readonly role?: Role;
  readonly viewer?: Viewer;
  readonly action?: unknown;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

/** Thrown by a check. The message states what the game does wrong. */
export class Violation extends Error {
  readonly evidence: Evidence;
  /** The change of the game that removes the violation, if it differs from the advice of the obligation. */
  readonly advice: string | null;
  constructor(problem: string, evidence: Evidence, advice: string | null = null) {
    super(problem);
    this.evidence = evidence;
    this.advice = advice;
  }
}

/** A game with random games of it. */
export interface Subject {
  readonly game: Game;
  /** Options that the game is tested with, besides its defaults. */
  readonly variants: readonly unknown[];
  readonly traces: readonly Trace[];
}

/** An obligation of a game. */
export interface Obligation {
  readonly id: string;
  /** The obligation as a sentence. */
  readonly title: string;
  /** The usual change of a game that violates it. */
  readonly advice: string;
  /** Whether the obligation exists for a game; absent if it exists for all games. */
  readonly applies?: (game: Game) => boolean;
  /** Whether the check needs no random games. */
  readonly needsNoTraces?: true;
  /** Throws a Violation if the game violates the obligation. */
  check(subject: Subject): void;
}

/** Throws a Violation unless the condition is true. */
export function must(condition: boolean, problem: string, evidence: () => Evidence): void {
  if (!condition) throw new Violation(problem, evidence());
}

export interface Step {
  readonly role: Role;
  readonly action: unknown;
}

/** One game from beginning to end. */
export interface Trace {
  readonly options: unknown;
  readonly seed: string;
  /** The initial state and the state after each step. */
  readonly states: readonly unknown[];
  readonly steps: readonly Step[];
}

/**
 * Plays a whole random game. Options, states and actions are frozen, so that a game that writes to its arguments throws.
 * Throws a Violation if a legal action is rejected, a role that is to act has no legal action, or the game exceeds
 * `maxActions`.
 */
export function playAtRandom(game: Game, options: unknown, seed: string, random: Random): Trace {
  const parsed = deepFreeze(game.options.parse(options));
  const steps: Step[] = [];
  let state = deepFreeze(game.initialState({ options: parsed, seed }));
  const states = [state];
  for (let roles = game.toAct(state); roles.length > 0; roles = game.toAct(state)) {
    const at = (role?: Role) => ({
      options: parsed,
      seed,
      step: steps.length,
      state,
      ...(role !== undefined && { role }),
    });
    const { maxActions } = game.info;
    must(steps.length < maxActions, `a game does not end within maxActions, which is ${maxActions}`, at);
    const role = random.pick(roles);
    const legal = game.legalActions(state, role);
    must(legal.length > 0, `toAct names ${role}, but legalActions lists no action of it`, () => at(role));
    const action = deepFreeze(random.pick(legal));
    state = deepFreeze(applyLegal(game, state, role, action));
    steps.push({ role, action });
    states.push(state);
  }
  return { options: parsed, seed, states, steps };
}

const SEEDS_PER_VARIANT = 4;
/** The approximate number of states of each game that the more expensive checks test. */
const STATES_SAMPLED = 10;

/** Plays random games with each variant of the options. The seeds are the same at each call. */
export const playVariants = (game: Game, variants: readonly unknown[]): readonly Trace[] =>
  variants.flatMap((options, variant) =>
    Array.from({ length: SEEDS_PER_VARIANT }, (_, index) => {
      const seed = `conformance seed ${game.id} ${variant} ${index}`;
      return playAtRandom(game, options, seed, createRandom(seed));
    }),
  );

/** Returns the indices of some states of a game, evenly spaced, including the first and the last. */
export function sampledSteps({ states }: Trace): readonly number[] {
  const gap = Math.max(1, Math.floor(states.length / STATES_SAMPLED));
  return [...states.keys()].filter((index) => index % gap === 0 || index === states.length - 1);
}

export const viewersOf = (game: Game): Viewer[] => [...game.roles, "spectator"];

/** Returns the state after an action. Throws a Violation if the action is not legal. */
export function applyLegal(game: Game, state: unknown, role: Role, action: unknown): unknown {
  const applied = game.applyAction(state, role, action);
  const problem = `applyAction rejects ${canonicalJson(action)} of ${role}, which legalActions lists`;
  must(applied.ok, problem, () => ({ state, role, action, actual: applied }));
  return applied.ok ? applied.value : null;
}

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
