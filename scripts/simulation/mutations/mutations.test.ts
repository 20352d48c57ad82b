import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../testing/processes.ts";
import { evidenceIn } from "./mutation.ts";
import { MUTATIONS, TESTED_FAULTS } from "./mutations.ts";

// `npm run simulate:mutations` applies them, which takes minutes. A quote that no longer matches is found here.
describe("a deliberate fault for the simulation", () => {
  it.each([...MUTATIONS, ...TESTED_FAULTS].map((mutation) => [mutation.name, mutation] as const))(
    "quotes a text that its file has exactly once: %s",
    (_name, { file, from, to }) => {
      expect(readFileSync(join(root, file), "utf8").split(from)).toHaveLength(2);
      expect(to).not.toBe(from);
    },
  );

  it.each(TESTED_FAULTS.map(({ name, foundBy }) => [name, foundBy] as const))(
    "that only a test finds names a test that exists: %s",
    (_name, foundBy) => expect(existsSync(join(root, foundBy))).toBe(true),
  );
});

describe("the evidence that a deliberate fault was found", () => {
  const output = [
    "seed 7 fails after 900 steps and 12 s:",
    "  resources: manager 2 has more than 80 timers",
    "seed 9 fails after 700 steps and 11 s:",
    "  end: the league did not end within 42 s",
    "  results: R1M1 has two results",
    "failed",
    "",
  ].join("\n");

  it("is the first fault of a rule that it breaks, with its seed", () => {
    expect(evidenceIn(output, { rules: ["moves", "results"] })).toBe("seed 9: results: R1M1 has two results");
    expect(evidenceIn(output, { rules: ["resources"] })).toBe("seed 7: resources: manager 2 has more than 80 timers");
  });

  it("is not a fault of another rule", () => {
    expect(evidenceIn(output, { rules: ["clocks"] })).toBeNull();
    expect(evidenceIn("300 passed\n", { rules: ["clocks"] })).toBeNull();
  });

  it("can be a fault of a long league", () => {
    const long = "a long league fails:\n  memory: each match leaves 9000 bytes in memory, more than 4800\nfailed\n";
    expect(evidenceIn(long, { rules: ["memory"] })).toMatch(/^a long league: memory: each match/);
  });
});
