import { afterEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { FAILED_PLANS } from "./simulation/failed-plans.ts";
import { cleanUp, start } from "./testing.ts";

afterEach(cleanUp);

const simulate = (...args: string[]) => start("scripts/simulate.ts", args).ended;

describe("npm run simulate", () => {
  it("finds no fault in these seeds", async () => {
    const { code, stdout } = await simulate("--seeds", "200");
    expect(stdout).toBe("200 passed\n");
    expect(code).toBe(0);
  }, 120_000);

  it.each(["3", "17"])(
    "plays seed %s twice in the same steps",
    async (seed) => {
      const [first, second] = await Promise.all([
        simulate("--seed", seed, "--trace"),
        simulate("--seed", seed, "--trace"),
      ]);
      expect(first.stdout.includes("MATCH_RESULT")).toBe(true);
      // Not the texts, of which the report of a failure would print megabytes.
      expect(sha256Hex(second.stdout)).toBe(sha256Hex(first.stdout));
    },
    60_000,
  );

  it.each(Object.entries(FAILED_PLANS))("finds no fault any more in %s", async (_, plan) => {
    expect(await simulate("--plan", JSON.stringify(plan))).toMatchObject({ stdout: "1 passed\n", code: 0 });
  });

  it("rejects a trace of many seeds", async () => {
    const { code, stderr } = await simulate("--seeds", "2", "--trace");
    expect(code).toBe(2);
    expect(stderr).toContain("--trace goes with --seed");
  });
});
