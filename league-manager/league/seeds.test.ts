import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { leagueSeed, seedOfMatch } from "./league.ts";

const hmac = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("base64url");

it("the seed of each league is derived from that of the run, and the seeds of its matches from that of the league", () => {
  const seed = leagueSeed("run seed", "rps");
  expect(seed).toBe(hmac("run seed", "rps"));
  expect(leagueSeed("run seed", "chess")).not.toBe(seed);
  expect(seedOfMatch(seed, "rps", "R1M1", 1)).toBe(hmac(seed, "rps/R1M1"));
  expect(seedOfMatch(seed, "rps", "R1M1", 2)).toBe(hmac(seed, "rps/R1M1/2"));
});
