import type { Ids } from "#shared/lib/ids.ts";
import { assertSeed, newSeed } from "#shared/runtime/config/config.ts";
import type { ManagerStore } from "./manager-store.ts";

/** The values that are fixed for a run. They are rows of the store instead of events, because the seed is secret. */
export interface RunIdentity {
  /** A random id. Referees that keep their stores use it to distinguish matches of this run from matches with the same ids in other runs. */
  readonly runId: string;
  /** The seed from which the seeds of the leagues are derived. */
  readonly seed: string;
}

/** The seed for a new run. */
interface GivenSeed {
  /** null for a random one. */
  readonly seed: string | null;
  /** Whether programs may enter that no command starts. */
  readonly isOpen: boolean;
}

/**
 * Returns the identity of the run of a store. In a new store it creates one with the given seed or a random one. If several managers do so at once,
 * all of them get the same identity. Rejects with StartError if the given seed is too short for a new run.
 */
export async function openRun(
  store: Pick<ManagerStore, "getMeta" | "initMeta">,
  given: GivenSeed,
  ids: Ids,
): Promise<RunIdentity> {
  const storedSeed = await store.getMeta(SEED);
  if (storedSeed === null) assertSeed(given.seed, given.isOpen, ids);
  const runId = (await store.getMeta(RUN_ID)) ?? (await store.initMeta(RUN_ID, ids.token()));
  const seed = storedSeed ?? (await store.initMeta(SEED, given.seed ?? newSeed(ids)));
  return { runId, seed };
}

/** Reads the identity of the run of a store. Its values are empty if the store has none. */
export const readRun = async (store: Pick<ManagerStore, "getMeta">): Promise<RunIdentity> => ({
  runId: (await store.getMeta(RUN_ID)) ?? "",
  seed: (await store.getMeta(SEED)) ?? "",
});

const RUN_ID = "run_id";
const SEED = "seed";
