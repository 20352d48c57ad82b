import { expect, test } from "vitest";
import { leagueStatus } from "../../league-manager/api/operator-operations.ts";
import { LeagueStatus } from "../../league-manager/api/tool-schemas.ts";
import type { LeagueCommand, LeagueSettings } from "../../league-manager/league/league.ts";
import { afterCommands, entered, pair, SETTINGS, START } from "../../league-manager/league/testing/leagues.ts";
import { createProjections } from "../../league-manager/projections/projections.ts";
import { statusLines } from "./operator.ts";

const TEST: Partial<LeagueSettings> = { format: "sprt", formatOptions: { elo0: 0, elo1: 50 } };

/** The text of `league status` about a league after these commands. */
function statusAfter(commands: readonly LeagueCommand[]): string {
  const { league } = afterCommands(commands);
  const state = { leagues: new Map([[league.leagueId, league]]), agents: new Map() };
  const projections = createProjections({ state } as unknown as Parameters<typeof createProjections>[0]);
  const row = leagueStatus({ projections, awaited: () => null }, league);
  return statusLines(LeagueStatus.parse({ leagues: [row], referees: [] })).join("\n");
}

test("league status shows the state of a sequential test when the league is started", () => {
  const open = entered(["P01", "P02"], { ...SETTINGS, ...TEST });
  expect(statusAfter(open)).not.toContain("SPRT");
  const started = [...open, START, pair(2)];
  expect(statusAfter(started)).toMatch(
    /^ {2}not decided yet if P01 is better than P02: SPRT 0\.00 \(-2\.94, 2\.94\) after 0 pairs of matches$/m,
  );
});

test("league status shows no result for other formats", () => {
  expect(statusAfter([...entered(["P01", "P02"]), START])).not.toContain("decided");
});

type Status = LeagueStatus["leagues"][number];

const LEAGUE: Status = {
  league_id: "rps",
  game: "rps.v1",
  format: "round-robin",
  format_options: { cycles: 2, makeup: true },
  late_entry: "makeup",
  clock: { initial_ms: 20_000, increment_ms: 1_000 },
  version: 9,
  status: "running",
  starts_at: null,
  waits_for: null,
  current_round: 1,
  rounds: 1,
  round_ends_at: null,
  matches: 2,
  completed: 0,
  being_played: 2,
  expected_matches: 4,
  result: null,
  players: [],
};

test("the status has the rule for late entries, the clocks, the numbers of matches and the capacity of each referee", () => {
  const referees = [{ referee_id: "REF01", state: "ACTIVE", answers: true, max_matches: 64 }] as const;
  expect(statusLines({ leagues: [LEAGUE], referees: [...referees] })).toEqual([
    "rps: running, rps.v1, round-robin, cycles 2",
    "  late_entry: makeup",
    "  clocks: 20 s for all moves, and 1 s more with each move",
    "  round 1: 0 matches completed, 2 being played, 2 paired, at most 4 at the end",
    "",
    "referees: REF01 ACTIVE (at most 64 matches at once)",
  ]);
  const silent = referees.map((referee) => ({ ...referee, answers: false }));
  expect(statusLines({ leagues: [], referees: silent })).toEqual([
    "referees: REF01 ACTIVE, does not answer (at most 64 matches at once)",
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

test("agents whose leagues are over are finished, and others that are shut down are not", () => {
  const player = (player_id: string) =>
    ({ player_id, display_name: player_id, rank: 1, points: 0, state: "SHUTDOWN" }) as Status["players"][number];
  const over = { ...LEAGUE, status: "completed" as const, players: [player("P01"), player("P02")] };
  const running = { ...LEAGUE, players: [player("P02")] };
  const referees = [{ referee_id: "REF01", state: "SHUTDOWN" as const, answers: true, max_matches: 64 }];
  const statesIn = (leagues: Status[]): readonly string[] =>
    statusLines({ leagues, referees }).flatMap((line) => /(?:P|REF)\d+.*?(?:SHUTDOWN|finished)/.exec(line) ?? []);
  expect(statesIn([over])).toEqual([
    "P01 (P01), 0 points, finished",
    "P02 (P02), 0 points, finished",
    "REF01 finished",
  ]);
  expect(statesIn([over, running])).toEqual([
    "P01 (P01), 0 points, finished",
    "P02 (P02), 0 points, SHUTDOWN",
    "P02 (P02), 0 points, SHUTDOWN",
    "REF01 SHUTDOWN",
  ]);
});
