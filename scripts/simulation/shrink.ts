import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";

/** Removes the disturbances and the calls of operators that a failing plan does not need to fail. Resolves with a plan that passes if any further one is removed. */
export async function shrink(plan: Plan): Promise<Plan> {
  for (const smaller of smallerPlans(plan)) if ((await runPlan(smaller)).faults.length > 0) return shrink(smaller);
  return plan;
}

/** The plans that lack one disturbance, or one call without which the league nevertheless starts. */
function* smallerPlans(plan: Plan): Iterable<Plan> {
  const { disturbances, calls = [] } = plan;
  for (const one of disturbances) yield { ...plan, disturbances: disturbances.filter((other) => other !== one) };
  const starting = plan.isStartedByOperator ? "start_league" : plan.added !== undefined ? "add_player" : null;
  for (const one of calls) if (one.tool !== starting) yield { ...plan, calls: calls.filter((other) => other !== one) };
}
