import { expect, it } from "vitest";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import { faultsOfTimeouts } from "./timeouts.ts";

/** A match of P01 and P02 in which these players have timed out. */
const match = (match_id: string, ...timedOut: readonly string[]): LeagueEvent =>
  ({
    type: "match_completed",
    match_id,
    epoch: 1,
    log_head: "x",
    match_points: { P01: 0, P02: 3 },
    faults: timedOut.map((player_id) => ({ player_id, code: "G002", cause: "timeout" })),
  }) as unknown as LeagueEvent;
const left = { type: "player_left", player_id: "P01" } as unknown as LeagueEvent;
const stream = (...events: readonly string[]) =>
  events.map((text) => ({ type: text.split(" ")[0] ?? "", match_id: text.split(" ")[1] ?? "", league_id: "sim" }));

it.each([
  ["counts", [match("M1", "P01"), match("M2")], ["timed_out M1", "answered M2"], [], 0],
  ["of the opponent counts", [match("M1", "P01")], ["timed_out M1"], ["timed_out M1"], 1],
  ["is not reset by a good match", [match("M1", "P01"), match("M2")], ["timed_out M1"], [], 1],
  [
    "is the third and shuts the player down",
    [match("M1", "P01"), match("M2", "P01"), match("M3", "P01"), left, match("M4")],
    ["timed_out M1", "timed_out M2", "timed_out M3"],
    [],
    0,
  ],
  ["is the first and shuts the player down", [match("M1", "P01"), left], ["timed_out M1"], [], 1],
] as const)("a timeout %s", (_, events, first, second, count) => {
  const streams = new Map([
    ["P01", stream(...first)],
    ["P02", stream(...second)],
  ]);
  expect(faultsOfTimeouts(events, streams)).toHaveLength(count);
});
