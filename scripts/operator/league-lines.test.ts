import { expect, it } from "vitest";
import type { LeagueStatus } from "../../league-manager/api/operation-schemas.ts";
import { statusLines } from "./league-lines.ts";

const LEAGUE: LeagueStatus["leagues"][number] = {
  ...{ league_id: "rps", game: "rps.v1", format: "round-robin", format_options: { cycles: 2, makeup: true } },
  ...{ late_entry: "makeup", clock: { initial_ms: 20_000, increment_ms: 1_000 }, version: 9, status: "running" },
  ...{ starts_at: null, waits_for: null, current_round: 1, rounds: 1, round_ends_at: null },
  ...{ matches: 2, completed: 0, being_played: 2, expected_matches: 4, result: null, players: [] },
};

it("the status has the rule for late entries, the clocks, the numbers of matches and the capacity of each referee", () => {
  const referees = [{ referee_id: "REF01", state: "ACTIVE", max_matches: 64 }] as const;
  expect(statusLines({ leagues: [LEAGUE], referees: [...referees] })).toEqual([
    "rps: running, rps.v1, round-robin, cycles 2",
    "  late_entry: makeup",
    "  clocks: 20 s for all moves, and 1 s more with each move",
    "  round 1: 0 matches completed, 2 being played, 2 paired, at most 4 at the end",
    "",
    "referees: REF01 ACTIVE (at most 64 matches at once)",
  ]);
  const completed = {
    ...LEAGUE,
    late_entry: "closed" as const,
    clock: null,
    current_round: null,
    completed: 4,
    matches: 4,
    being_played: 0,
  };
  expect(statusLines({ leagues: [completed], referees: [] })[1]).toBe(
    "  1 round: 4 matches completed, 0 being played, 4 paired",
  );
});
