import { expect, it } from "vitest";
import type { Machine } from "../machines/machine.ts";
import { planOf } from "../random-plan.ts";
import { faultsOfLoad, limitsOf } from "./load.ts";

const PLAN = { ...planOf("169"), managers: 2, referees: 3, disturbances: [] };
const LIMITS = limitsOf({ ...PLAN, players: ["well", "well", "well", "well", "well"] });

it("the limits of a manager include an announcement of each round to each agent that begins to listen", () => {
  // The peak of a run with two managers, whose players began to listen after several rounds were opened.
  expect(LIMITS.manager.timers).toBeGreaterThan(92);
});

it("the limits follow from the numbers of agents and matches", () => {
  const larger = limitsOf({ ...PLAN, players: Array.from({ length: 20 }, () => "well" as const) });
  expect(larger.manager.timers).toBeGreaterThan(LIMITS.manager.timers);
  expect(larger.referee.commits).toBeGreaterThan(LIMITS.referee.commits);
  expect(larger.player.connections).toBeGreaterThan(LIMITS.player.connections);
});

it.each(["timers", "connections", "commits"] as const)("a process has a fault with more %s than its limit", (kind) => {
  const machine = (more: number): Machine =>
    ({
      name: "referee 1",
      process: { load: () => ({ ...LIMITS.referee, [kind]: LIMITS.referee[kind] + more }) },
    }) as unknown as Machine;
  expect(faultsOfLoad(machine(0), LIMITS)).toEqual([]);
  expect(faultsOfLoad(machine(1), LIMITS)).toEqual([expect.stringContaining(`referee 1 has more than`)]);
});
