import { expect, it } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { withClock } from "./config-overrides.ts";

it("the option --clock replaces the clocks of all leagues, and without it a config is unchanged", () => {
  const [old, clock] = [
    { initial_ms: 5_000, increment_ms: 0 },
    { initial_ms: 60_000, increment_ms: 1_000 },
  ];
  const league = { league_id: "a", game: "rps.v1" };
  const config = Config.parse({ leagues: [league, { ...league, league_id: "b", clock: old }] });
  expect(withClock(config, clock).leagues.map((one) => one.clock)).toEqual([clock, clock]);
  expect(withClock(config, undefined)).toBe(config);
});
