import { newToken } from "#shared/lib/ids.ts";
import type { SeedRule } from "#shared/session/match-seed.ts";
import type { Kept, ManagerStore } from "./tables.ts";

/** The values that are fixed when a run begins, and kept in its store. */
export interface RunIdentity {
  /** Random. Tells referees that keep their stores this run's matches from those of the same names in another run. */
  readonly runId: string;
  /** Secret until every league is completed. */
  readonly seed: string;
  readonly seedRule: SeedRule;
}

/** The identity of the run that a store holds; of a new run with the seed that is given, or a random one. */
export async function openRun(store: ManagerStore, { meta }: Kept, givenSeed: string | null): Promise<RunIdentity> {
  const runId = meta.get("run_id") ?? newToken();
  const seedRule = meta.has("seed") ? seedRuleOf(meta) : "per_epoch";
  const seed = meta.get("seed") ?? givenSeed ?? newToken();
  await store.setMeta("run_id", runId);
  await store.setMeta(SEED_RULE, seedRule);
  // The seed is written last: a store with a seed and without a rule was begun by an older version.
  await store.setMeta("seed", seed);
  return { runId, seed, seedRule };
}

/** The seed rule of a run that has begun. */
export const seedRuleOf = (meta: Kept["meta"]): SeedRule =>
  meta.get(SEED_RULE) === "per_epoch" ? "per_epoch" : "per_match";

const SEED_RULE = "seed_rule";
