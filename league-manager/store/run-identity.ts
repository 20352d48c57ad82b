import type { Ids } from "#shared/lib/ids.ts";
import type { ManagerStore } from "./manager-store.ts";

/** The values that are fixed when a run begins. They are rows of the store, because the seed is secret. */
export interface RunIdentity {
  /** Random. Referees that keep their stores distinguish this run's matches by it from matches of the same names in another run. */
  readonly runId: string;
  /** The seeds of the leagues follow from it. */
  readonly seed: string;
}

/** The identity of the run that a store holds. A new store gets one, with the seed that is given or a random one. */
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

/** The identity of a run that has begun. */
export const keptRun = (store: Pick<ManagerStore, "getMeta">): RunIdentity => ({
  runId: store.getMeta(RUN_ID) ?? "",
  seed: store.getMeta(SEED) ?? "",
});

const RUN_ID = "run_id";
const SEED = "seed";
