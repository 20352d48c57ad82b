import type { Disturbance } from "./disturbance.ts";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";

/** Removes the disturbances that a failing plan does not need to fail. Resolves with a plan that passes if any further disturbance is removed. */
export async function shrink(plan: Plan): Promise<Plan> {
  for (const one of plan.disturbances) {
    const smaller = without(plan, one);
    if ((await runPlan(smaller)).faults.length > 0) return shrink(smaller);
  }
  return plan;
}

const without = (plan: Plan, one: Disturbance): Plan => ({
  ...plan,
  disturbances: plan.disturbances.filter((other) => other !== one),
});
