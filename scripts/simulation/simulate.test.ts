import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isLongRun } from "#shared/lib/testing/long-run.ts";
import { cleanUp, eventually, processesIn, start } from "../testing/processes.ts";
import { FAILED_PLANS } from "./failed-plans.ts";
import { Plan } from "./plan.ts";
import { runPlan, warmUp } from "./run.ts";

afterEach(cleanUp);

const simulate = (...args: string[]) => start("scripts/simulation/simulate.ts", args).ended;

describe("the simulation", () => {
  beforeAll(warmUp);

  it.each(Object.entries(FAILED_PLANS))("finds no fault in the plan of a corrected error: %s", async (_, plan) => {
    expect((await runPlan(Plan.parse(plan))).faults).toEqual([]);
  });
});

describe("npm run simulate", () => {
  it("finds no fault in the first 120 seeds", async () => {
    const { code, stdout } = await simulate("--seeds", "120");
    expect(stdout.endsWith("\n120 passed\n")).toBe(true);
    // The numbers of all workers are added up: every league was opened and, except those that are not played, completed.
    expect(Number(/(\d+) event of a league: completed/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(120);
    expect(stdout).toMatch(/ [1-9]\d* event of a league: match_annulled\n/);
    expect(code).toBe(0);
  });

  it("prints no coverage of a short series", async () => {
    expect(await simulate("--seeds", "2")).toMatchObject({ stdout: "2 passed\n", code: 0 });
  });

  it.each(["3", ...(isLongRun ? ["17", "25"] : [])])(
    "prints the same trace for seed %s in two processes",
    async (seed) => {
      const [first, second] = await Promise.all([
        simulate("--seed", seed, "--trace"),
        simulate("--seed", seed, "--trace"),
      ]);
      expect(first.stdout.includes("MATCH_RESULT")).toBe(true);
      // Compares hashes, because the report of a failure would contain megabytes of text.
      expect(sha256Hex(second.stdout)).toBe(sha256Hex(first.stdout));
    },
  );

  it("finds no fault in a plan", async () => {
    const [plan] = Object.values(FAILED_PLANS);
    expect(await simulate("--plan", JSON.stringify(plan))).toMatchObject({ stdout: "1 passed\n", code: 0 });
  });

  it.each([
    ["a trace of many seeds", ["--seeds", "2", "--trace"], "--trace requires --seed or --plan"],
    ["an empty seed", ["--seed", ""], "--seed is empty"],
    ["a seed and a plan", ["--seed", "1", "--plan", "{}"], "--seed and --plan exclude each other"],
    ["an unknown rule", ["--until-rule", "moves,draws"], 'unknown rule "draws"; the rules are: end, results, '],
    ["a plan that is not JSON", ["--plan", "{"], "--plan is not a valid plan"],
    ["a plan without a seed", ["--plan", "{}"], "seed: "],
    [
      "a plan with an unknown game",
      ["--plan", '{"seed":"1","game":{"id":"go"},"referees":1,"players":[],"disturbances":[]}'],
      "game: id: ",
    ],
  ])("rejects %s in one line", async (_, args, message) => {
    const { code, stdout, stderr } = await simulate(...args);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr.split("\n")[0]).toContain(message);
  });

  it("leaves no workers when it is killed", async () => {
    const first = "987650001";
    const running = start("scripts/simulation/simulate.ts", ["--first", first, "--seeds", "100000", "--workers", "2"]);
    const workers = (): number => processesIn("98765000").length - 1;
    await eventually("the start of two workers", () => workers() === 2);
    running.signal("SIGKILL");
    await eventually("the end of the workers", () => processesIn("98765000").length === 0);
  });
});
