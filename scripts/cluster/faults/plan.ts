import { createRandom } from "#shared/lib/rng.ts";

export const FAULT_KINDS = [
  "kill a manager",
  "kill a referee",
  "kill the database",
  "cut a manager from the database",
  "stop a manager",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault that is injected when a number of matches is completed, so that every fault occurs while matches are played. */
export interface PlannedFault {
  readonly kind: FaultKind;
  readonly afterMatches: number;
}

/** One fault for this number of matches, on average. */
const MATCHES_PER_FAULT = 250;
/** The share of the matches before the first and after the last fault. */
const MARGIN = 0.05;

/**
 * Returns the faults of a run in their order. Each five faults in a row are of different kinds, in random order. A short run has each kind once.
 * The numbers of matches between two faults vary.
 */
export function planFaults(matches: number, seed: string): readonly PlannedFault[] {
  const random = createRandom(`${seed}/faults`);
  const count = Math.max(FAULT_KINDS.length, Math.floor(matches / MATCHES_PER_FAULT));
  const blocks = Array.from({ length: Math.ceil(count / FAULT_KINDS.length) }, () => random.shuffle(FAULT_KINDS));
  const slot = (matches * (1 - 2 * MARGIN)) / count;
  return blocks
    .flat()
    .slice(0, count)
    .map((kind, index) => ({
      kind,
      afterMatches: Math.floor(matches * MARGIN + slot * (index + random.next())),
    }));
}
