import { expect, test } from "vitest";
import { startTestLeague } from "./testing-league.ts";

test("an error of one league is told once and does not stop the others", async () => {
  const seedOf = ({ leagueId }: { leagueId: string }): string => {
    if (leagueId === "bad") throw new Error("no seed");
    return "seed";
  };
  const league = await startTestLeague({ leagues: ["bad", "rps"], effects: { seedOf } });
  const order = await league.order("REF01", "R1M1");
  expect(order.league_id).toBe("rps");
  await league.clock.advance(5_000);
  expect(league.notices).toEqual(["bad cannot go on: no seed"]);
  expect(league.league("bad").rounds[0]?.isAnnounced).toBe(true);
});
