import { sha256Hex } from "../../lib/hash.ts";
import { invariant } from "../../lib/result.ts";
import { createRandom, type Random } from "../../lib/rng.ts";
import type { Game, Role, Viewer } from "../game.ts";
import { type GameId, games } from "../registry.ts";

/**
 * Board words of all kinds: with accents, of several words, in other scripts, and single letters, which occur in most
 * clues.
 */
const CODENAMES_WORDS = [
  ..."Café|New York|l’île|Straße|jack-o'-lantern|Čapek|Οδός|река|海|東京|수도|नदी|ﬁn".split("|"),
  ..."B|D|F|G|J|K|P|Q|V|W|X|Z".split("|"),
];

/** The options with which a game is tested. A game that is not listed is tested with its defaults. */
const variants: Partial<Record<GameId, readonly unknown[]>> = {
  "even_odd.v1": [
    {},
    { variant: "draw" },
    { variant: "draw", rounds_to_win: 3, max_rounds: 6 },
    { rounds_to_win: 2, max_rounds: 2 },
  ],
  "rps.v1": [{}, { best_of: 2 }, { best_of: 5 }],
  // In the second position both sides can promote.
  "chess.v1": [{}, { fen: "r3k3/P1P4p/8/8/8/8/p1p4P/R3K3 w Qq - 0 1" }, { max_plies: 9 }],
  "kuhn_poker.v1": [{}, { hands: 1 }, { hands: 3 }],
  "codenames.v1": [{}, { starting_team: "blue" }, { words: CODENAMES_WORDS, starting_team: "red" }],
};

export const variantsOf = (id: GameId): readonly unknown[] => variants[id] ?? [{}];

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
 * Plays a whole random game, for the tests of every game. Options, states and actions are frozen, so that a game that
 * writes to its arguments throws. Throws if a legal action is rejected or if the game exceeds `maxActions`.
 */
export function playAtRandom(game: Game, options: unknown, seed: string, random: Random): Trace {
  const parsed = deepFreeze(game.options.parse(options));
  const steps: Step[] = [];
  let state = deepFreeze(game.initialState({ options: parsed, seed }));
  const states = [state];
  for (let roles = game.toAct(state); roles.length > 0; roles = game.toAct(state)) {
    invariant(steps.length < game.info.maxActions, `${game.id} ends within ${game.info.maxActions} actions`);
    const role = random.pick(roles);
    const action = deepFreeze(random.pick(game.legalActions(state, role)));
    state = deepFreeze(applyLegal(game, state, role, action));
    steps.push({ role, action });
    states.push(state);
  }
  return { options: parsed, seed, states, steps };
}

const SEEDS_PER_VARIANT = 4;
/** The number of states of a game that are tested exhaustively. */
const STATES_SAMPLED = 10;

const played = new Map<GameId, readonly Trace[]>();

/** Returns random games of every variant. They are played once for each process. */
export function tracesOf(id: GameId): readonly Trace[] {
  const traces = played.get(id) ?? variantsOf(id).flatMap((options, variant) => playVariant(id, options, variant));
  played.set(id, traces);
  return traces;
}

function playVariant(id: GameId, options: unknown, variant: number): Trace[] {
  return Array.from({ length: SEEDS_PER_VARIANT }, (_, index) => {
    const seed = `conformance seed ${id} ${variant} ${index}`;
    return playAtRandom(games[id], options, seed, createRandom(seed));
  });
}

/** Returns some states of a game, evenly spaced, including the first and the last. */
export function sampleOf({ states }: Trace): unknown[] {
  const gap = Math.max(1, Math.floor(states.length / STATES_SAMPLED));
  return states.filter((_, index) => index % gap === 0 || index === states.length - 1);
}

export const viewersOf = (game: Game): Viewer[] => [...game.roles, "spectator"];

/** Returns the state after an action. Throws if the action is not legal. */
export function applyLegal(game: Game, state: unknown, role: Role, action: unknown): unknown {
  const applied = game.applyAction(state, role, action);
  invariant(applied.ok, `${game.id} takes ${canonicalJson(action)} of ${role}`);
  return applied.value;
}

/** Returns a value as JSON with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Returns a value after a round trip through JSON. */
export const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

export const stateHash = (state: unknown): string => sha256Hex(canonicalJson(state));

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
