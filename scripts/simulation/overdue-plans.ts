import { createRandom } from "#shared/lib/rng.ts";
import { DISTURBANCES_MS, type Disturbance } from "./disturbance.ts";
import { MANAGER, refereeName } from "./machines/names.ts";
import type { Plan } from "./plan.ts";

const SHARE = 0.04;
/** The time of a match: longer than the time after a start of the manager in which no match is overdue. */
const MATCH_MS = 65_000;
const STOPPED_MS = 85_000;
/** The manager is restarted while the referee is stopped. */
const MAX_RESTART_MS = 30_000;

/**
 * Returns the plan, or in a few cases one in which a referee is stopped for longer than a match may take, and the manager is restarted meanwhile. If there
 * is another referee it gets the matches sooner.
 */
export function withStoppedReferee(plan: Plan): Plan {
  const random = createRandom(`${plan.seed}/overdue`);
  if (plan.managers > 1 || random.next() >= SHARE) return plan;
  const added: readonly Disturbance[] = [
    { type: "stop", at: random.int(1_000, DISTURBANCES_MS), ms: STOPPED_MS, machine: refereeName(0) },
    { type: "crash", at: random.int(10_000, MAX_RESTART_MS), machine: MANAGER, downMs: random.int(0, 1_000) },
  ];
  const kept = plan.disturbances.filter(({ type }) => type !== "clock set");
  return { ...plan, matchMs: MATCH_MS, disturbances: [...kept, ...added].sort((a, b) => a.at - b.at) };
}
