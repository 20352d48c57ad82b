import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { leagueSeed, seedOfMatch } from "./seeds.ts";

const hmac = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("base64url");

it("each league of a run has its own seed, from which those of its matches follow", () => {
  const seed = leagueSeed("run seed", "rps");
  expect(seed).toBe(hmac("run seed", "rps"));
  expect(leagueSeed("run seed", "chess")).not.toBe(seed);
  expect(seedOfMatch(seed, "rps", "R1M1", 1)).toBe(hmac(seed, "rps/R1M1"));
  expect(seedOfMatch(seed, "rps", "R1M1", 2)).toBe(hmac(seed, "rps/R1M1/2"));
});
