import { describe, expect, it } from "vitest";
import { faultsOfResults } from "./proof.ts";

const results = (...matches: readonly string[]) => matches.map((match) => ({ match, termination: "normal" as const }));

describe("faultsOfResults", () => {
  it("finds no fault if each match has one result", () => {
    expect(faultsOfResults(results("a/R1M1", "a/R1M2", "b/R1M1"), 3)).toEqual([]);
  });

  it("names a match with two results", () => {
    expect(faultsOfResults(results("a/R1M1", "a/R1M2", "a/R1M1"), 2)).toEqual(["a/R1M1 has 2 results"]);
  });

  it("reports matches without a result, and further matches", () => {
    expect(faultsOfResults(results("a/R1M1"), 2)).toEqual(["1 matches have a result, not 2"]);
    expect(faultsOfResults(results("a/R1M1", "a/R1M2"), 1)).toEqual(["2 matches have a result, not 1"]);
  });

  it.each(["forfeit", "aborted"] as const)("names a match with the end %s", (termination) => {
    const faults = faultsOfResults([...results("a/R1M1"), { match: "a/R1M2", termination }], 2);
    expect(faults).toEqual([`a/R1M2 has not ended normally: ${termination}`]);
  });
});
