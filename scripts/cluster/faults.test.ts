import { describe, expect, it } from "vitest";
import { FAULT_KINDS, planFaults } from "./faults.ts";

describe("planFaults", () => {
  it("has every kind of fault in each five faults in a row, while matches are played", () => {
    const faults = planFaults(20_000, "a");
    expect(faults).toHaveLength(80);
    for (let first = 0; first < faults.length; first += FAULT_KINDS.length) {
      const kinds = faults.slice(first, first + FAULT_KINDS.length).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(FAULT_KINDS.toSorted());
    }
    const moments = faults.map(({ afterMatches }) => afterMatches);
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    expect(moments.every((moment) => moment >= 1_000 && moment <= 19_000)).toBe(true);
  });

  it("has every kind of fault once in a short run", () => {
    const kinds = planFaults(66, "a").map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(FAULT_KINDS.toSorted());
  });

  it("is determined by the seed", () => {
    expect(planFaults(1_000, "a")).toEqual(planFaults(1_000, "a"));
    expect(planFaults(1_000, "a")).not.toEqual(planFaults(1_000, "b"));
  });
});
