import { isDeepStrictEqual } from "node:util";
import type { Game, Outcome, Role } from "#shared/games/game.ts";
import { createRandom } from "../../lib/rng.ts";
import { applyLegal, type Evidence, must, playAtRandom, viewersOf } from "./obligation.ts";
import { canonicalJson, stateHash, throughJson } from "./values.ts";

/** A recorded game. */
export interface Playthrough {
  readonly name: string;
  readonly options: unknown;
  readonly seed: string;
  /** The SHA-256 of the canonical JSON of the initial state. */
  readonly start: string;
  /** The role, its action, and the hash of the state after the action. */
  readonly steps: readonly (readonly [role: Role, action: unknown, hash: string])[];
  /** The views of all viewers at the end. */
  readonly views: Readonly<Record<string, unknown>>;
  readonly outcome: Outcome | null;
}

/** Plays recorded actions again. Returns the playthrough with the current hashes, views and outcome. */
export function replay(game: Game, recorded: Pick<Playthrough, "name" | "options" | "seed" | "steps">): Playthrough {
  const { name, options, seed } = recorded;
  let state = game.initialState({ options: game.options.parse(options), seed });
  const start = stateHash(state);
  const steps = recorded.steps.map(([role, action]) => {
    state = applyLegal(game, state, role, action);
    return [role, action, stateHash(state)] as const;
  });
  const views = Object.fromEntries(viewersOf(game).map((viewer) => [viewer, game.viewState(state, viewer)]));
  return { name, options, seed, start, steps, views, outcome: game.outcome(state) };
}

/** Records one random game. */
export function recordAtRandom(game: Game, options: unknown): Playthrough {
  const seed = `playthrough ${game.id}`;
  const { steps } = playAtRandom(game, options, seed, createRandom(seed));
  const name = `at random, options ${canonicalJson(options)}`;
  return replay(game, { name, options, seed, steps: steps.map(({ role, action }) => [role, action, ""]) });
}

/** Returns the text of a file, with one step in each line, so that diffs are readable. */
export function format(playthroughs: readonly Playthrough[]): string {
  const texts = playthroughs.map(({ steps, ...rest }) => {
    const lines = steps.map((step) => `    [${step.map((part) => JSON.stringify(part)).join(", ")}]`);
    const head = JSON.stringify({ ...rest, steps: "STEPS" }, null, 2);
    return head.replace('"STEPS"', () => `[\n${lines.join(",\n")}\n  ]`);
  });
  return `[\n${texts.join(",\n").replace(/^/gm, "  ")}\n]\n`;
}

/** Plays a recorded game again. Throws a Violation at the first difference to the record. */
export function mustReplay(game: Game, recorded: Playthrough): void {
  const { name, options, seed, start, steps, views, outcome } = recorded;
  const parsed = game.options.safeParse(options);
  must(parsed.success, `${name}: the options are no longer accepted`, () => ({
    options,
    actual: parsed.error?.message,
  }));
  let state = game.initialState({ options: parsed.data, seed });
  must(stateHash(state) === start, `${name}: initialState returns another state than before`, () => ({
    options,
    seed,
    actual: state,
  }));
  for (const [step, [role, action, hash]] of steps.entries()) {
    const evidence = (): Evidence => ({ options, seed, step, state, role, action });
    const applied = game.applyAction(state, role, action);
    must(applied.ok, `${name}: a recorded action is no longer legal`, () => ({ ...evidence(), actual: applied }));
    const next = applied.ok ? applied.value : null;
    const problem = `${name}: applyAction returns another state than before`;
    must(stateHash(next) === hash, problem, () => ({ ...evidence(), actual: next }));
    state = next;
  }
  const now = replay(game, recorded);
  const evidence = (): Evidence => ({
    options,
    seed,
    step: steps.length,
    state,
    expected: { views, outcome },
    actual: { views: now.views, outcome: now.outcome },
  });
  must(
    isDeepStrictEqual(throughJson(now.outcome), outcome),
    `${name}: the outcome is another one than before`,
    evidence,
  );
  must(
    isDeepStrictEqual(throughJson(now.views), views),
    `${name}: a view at the end is another one than before`,
    evidence,
  );
}
