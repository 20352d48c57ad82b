import { createRandom, type Random } from "../../lib/rng.ts";
import type { Game, Role, Viewer } from "../game.ts";
import { must } from "./obligation.ts";
import { canonicalJson, deepFreeze } from "./values.ts";

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
