import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { matchSeed, type SeedRule } from "./match-seed.ts";

const hmac = (text: string): string => createHmac("sha256", "run seed").update(text).digest("base64url");
const seeds = (seedRule: SeedRule): string[] =>
  [1, 2, 3].map((epoch) => matchSeed({ seed: "run seed", seedRule }, "rps", "R1M1", epoch));

describe("the seed of a match", () => {
  it("is the HMAC of the match reference, which includes the epoch from epoch 2 on", () => {
    expect(seeds("per_league")).toEqual([hmac("rps/R1M1"), hmac("rps/R1M1/2"), hmac("rps/R1M1/3")]);
    expect(seeds("per_epoch")).toEqual([hmac("rps/R1M1"), hmac("rps/R1M1/2"), hmac("rps/R1M1/3")]);
  });

  it("is the same in every epoch under the rule `per_match` of older versions", () => {
    expect(seeds("per_match")).toEqual([hmac("rps/R1M1"), hmac("rps/R1M1"), hmac("rps/R1M1")]);
  });
});
