import { describe, expect, test } from "vitest";
import { escapeUnprintable } from "#shared/lib/text.ts";
import { endpoint, id } from "./message-fields.ts";
import {
  GameInvite,
  GameResult,
  MatchResult,
  MatchWithdrawn,
  MoveRequest,
  RoundAnnouncement,
  RoundEnd,
  StandingsUpdate,
  StartGame,
} from "./messages.ts";

const CONTROL = ["P01\u001b[2J", "a\nb", "a b", "a\u00a0b", "\u202eP01", "a\u200bb", "a\u009b2J", "a\u2028b", "\ud800"];

test.each(["P01", "league_2025.even-odd", "R1M1", "Équipe№7", "a:b@c/d", "名前", "🂡", "x".repeat(200)])(
  "the id %s is accepted",
  (text) => expect(id.safeParse(text).success).toBe(true),
);

test.each([...CONTROL, "", "x".repeat(201)].map((text) => [escapeUnprintable(text), text]))(
  "the id '%s' is rejected",
  (_, text) => expect(id.safeParse(text).success).toBe(false),
);

test("an endpoint contains no control characters and may be empty, and an empty id has one fault", () => {
  expect(endpoint.safeParse("http://[::1]:8101/mcp?a=b c").success).toBe(true);
  expect(endpoint.safeParse("").success).toBe(true);
  expect(id.safeParse("").error?.issues).toHaveLength(1);
  for (const text of ["http://a/\u001b[2J", "http://a/\nb"]) expect(endpoint.safeParse(text).success).toBe(false);
});

describe("messages reject ids with control characters", () => {
  const BAD = "P01\u001b[2J";
  test.each([
    ["a league id", MatchWithdrawn, { league_id: BAD }, "league_id"],
    ["a match id", MoveRequest, { match_id: BAD }, "match_id"],
    ["the id of a player in the roles of an invitation", GameInvite, { roles: { white: BAD } }, "roles.white"],
    ["a role", GameInvite, { roles: { [BAD]: "P01" } }, `roles.${BAD}`],
    ["the id of a run", StartGame, { run_id: BAD }, "run_id"],
    ["the id of a winner", GameResult, { winner: BAD }, "winner"],
    ["the id of a player in a result", MatchResult, { final_scores: { [BAD]: 1 } }, `final_scores.${BAD}`],
    ["the id of a player without a match", RoundAnnouncement, { byes: [BAD] }, "byes.0"],
    ["the id of a league in standings", StandingsUpdate, { league_id: BAD }, "league_id"],
    ["the id of a league whose round ends", RoundEnd, { league_id: BAD }, "league_id"],
  ])("%s", (_, schema, message, path) => {
    const faults = schema.safeParse(message).error?.issues ?? [];
    const found = faults.find((issue) => issue.path.join(".") === path);
    expect(JSON.stringify(found)).toContain("must not contain spaces, control characters or zero-width characters");
  });
});
