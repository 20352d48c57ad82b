import { expect, test } from "vitest";
import { type LeagueEvent, parseLeagueEvent } from "./events.ts";
import type { LeagueSettings, NewLeagueEvent } from "./league.ts";
import { afterCommands, CODENAMES, enter, open, pair, played, running, SETTINGS, stored } from "./testing/leagues.ts";

test.each(["match_released", "match_aborted"] as const)("the reason of %s has at most 2,000 characters", (type) => {
  const bodyOf = (text: string): string => {
    const common = { match_id: "R1M1", epoch: 1, referee_id: "REF01" };
    const event =
      type === "match_released"
        ? ({ type, ...common, reason: "aborted", detail: text } as const)
        : ({ type, ...common, reason: text, log_head: "" } as const);
    return JSON.stringify(stored(event));
  };
  expect(parseLeagueEvent(bodyOf("x".repeat(2_000)))).toMatchObject({ type });
  expect(() => parseLeagueEvent(bodyOf("x".repeat(2_001)))).toThrow("2000");
});

const parsed = (event: object): LeagueEvent => parseLeagueEvent(JSON.stringify(event));

test("the events of a league are read as they were recorded", () => {
  const clock = { initial_ms: 1_000, increment_ms: 0 };
  const settings: LeagueSettings = {
    ...SETTINGS,
    formatOptions: { makeup: true },
    lateEntry: "makeup",
    openings: [{ best_of: 1 }],
    startsAt: "2026-05-04T14:00:00Z",
    roundMs: 1,
  };
  const leagues = [
    [...played(running(["P01", "P02"], settings), "R1M1"), enter("P03", true), pair(), open(2, { P03: 1 }, ["P03"])],
    running(["P01", "P02", "P03", "P04"], {
      ...CODENAMES,
      teams: [
        ["P01", "P02"],
        ["P03", "P04"],
      ],
      tieBreaks: ["wins"],
      clock,
    }),
  ];
  for (const event of leagues.flatMap((commands) => afterCommands(commands).events))
    expect(parsed(event)).toEqual(event);
});

const match = { match_id: "R1M1", epoch: 1, referee_id: "REF01" };
const paired = {
  type: "round_paired",
  round_id: 1,
  pairings: [{ match_id: "R1M1", players: ["P01", "P02"] }],
  byes: [],
};
const opened = {
  type: "opened",
  league_id: "rps",
  run_id: "run",
  game: "rps.v1",
  roles: ["a", "b"],
  options: {},
  format: "round-robin",
  seed_commitment: "c",
};
/** Fields with the least and the greatest value that is accepted, and values beyond them. */
test.each<[object, string, readonly unknown[], readonly unknown[]]>([
  [opened, "league_id", ["x", "x".repeat(200)], ["", "x".repeat(201)]],
  [opened, "roles", [["a"]], [[]]],
  [opened, "teams", [[["P01"]]], [[[]]]],
  [opened, "openings", [[{}]], [[]]],
  [opened, "round_ms", [1], [0]],
  [
    { ...opened, type: "reconfigured", league_id: undefined, run_id: undefined, seed_commitment: undefined },
    "roles",
    [["a"]],
    [[]],
  ],
  [{ type: "player_entered", player_id: "P01", name_commitment: "c" }, "entered_after", [0, 7], [-1]],
  [{ type: "player_left", player_id: "P01" }, "agent_version", [1, 7], [0]],
  [paired, "round_id", [1, 7], [0]],
  [paired, "label", ["x", "x".repeat(200)], ["", "x".repeat(201)]],
  [paired, "slots", [0, 1_000], [-1, 1_001]],
  [paired, "pairings", [[{ match_id: "R1M1", players: ["P01"] }]], [[{ match_id: "R1M1", players: [] }]]],
  [
    { type: "round_opened", round_id: 1 },
    "absent",
    [[{ player_id: "P01", agent_version: 1 }]],
    [[{ player_id: "P01", agent_version: 0 }]],
  ],
  [{ type: "match_assigned", ...match }, "epoch", [1, 7], [0]],
])(
  "an event with the limits of a field is read, and one beyond them is not: %j, %s",
  (event, field, valid, invalid) => {
    const withField = (value: unknown) => stored({ ...event, [field]: value } as NewLeagueEvent);
    for (const value of valid) expect(parsed(withField(value))).toMatchObject({ [field]: value });
    for (const value of invalid) expect(() => parsed(withField(value)), JSON.stringify(value)).toThrow();
  },
);
