import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { type PlannedLeague, planLeagues } from "./leagues.ts";

const matchesOf = ({ format, format_options, min_players: players }: PlannedLeague): number =>
  format === "swiss" ? (players / 2) * Number(format_options?.rounds) : (players * (players - 1)) / 2;

describe("planLeagues", () => {
  it("plays 20,000 matches of 200 players as a round robin and a Swiss system", () => {
    expect(planLeagues(20_000, 200)).toMatchObject([
      { format: "round-robin", min_players: 200, max_players: 200 },
      { format: "swiss", format_options: { rounds: 10 }, min_players: 20, max_players: 20 },
    ]);
  });

  it("returns leagues of valid configs with exactly the given number of matches", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 40, max: 200 }), (matches, players) => {
        const leagues = planLeagues(matches, players);
        expect(leagues.reduce((sum, league) => sum + matchesOf(league), 0)).toBe(matches);
        expect(Config.parse({ leagues }).leagues).toHaveLength(leagues.length);
        expect(leagues.every(({ min_players }) => min_players <= players)).toBe(true);
      }),
    );
  });

  it("rejects more matches than 100 leagues have", () => {
    expect(() => planLeagues(1_000, 4)).toThrow("1000 matches of 4 players are more than 100 leagues");
  });
});
