import type { Disturbance, Plan } from "./plan.ts";
import { runPlan } from "./run.ts";

/** Removes disturbances from a failing plan until it passes without any one of the remaining disturbances. */
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
