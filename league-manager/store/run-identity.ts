import type { Ids } from "#shared/lib/ids.ts";
import type { ManagerStore } from "./manager-store.ts";

/** The values that are fixed for a run. They are rows of the store instead of events, because the seed is secret. */
export interface RunIdentity {
  /** A random id. Referees that keep their stores use it to distinguish matches of this run from matches with the same ids in other runs. */
  readonly runId: string;
  /** The seed from which the seeds of the leagues are derived. */
  readonly seed: string;
}

/** Returns the identity of the run of a store. In a new store it creates one with the given seed or a random one. */
export async function openRun(
  store: Pick<ManagerStore, "getMeta" | "setMeta">,
  givenSeed: string | null,
  ids: Ids,
): Promise<RunIdentity> {
  const [runId, seed] = [store.getMeta(RUN_ID), store.getMeta(SEED)];
  if (runId !== null && seed !== null) return { runId, seed };
  const run = { runId: runId ?? ids.token(), seed: seed ?? givenSeed ?? ids.token() };
  await Promise.all([store.setMeta(RUN_ID, run.runId), store.setMeta(SEED, run.seed)]);
  return run;
}

/** Reads the identity of the run of a store. Its values are empty if the store has none. */
export const readRun = (store: Pick<ManagerStore, "getMeta">): RunIdentity => ({
  runId: store.getMeta(RUN_ID) ?? "",
  seed: store.getMeta(SEED) ?? "",
});

const RUN_ID = "run_id";
const SEED = "seed";
