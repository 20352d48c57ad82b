import { expect, test } from "vitest";
import type { z } from "zod";
import { AnswerTimes, DisplayName, offersWebSocket, Transports, transportsField } from "./message-fields.ts";
import {
  GameInviteResponse,
  MatchResult,
  MoveRequest,
  PlayerRegisterRequest,
  RefereeRegisterRequest,
  RefereeRegisterResponse,
  StandingsUpdate,
  StartGame,
  WireFault,
} from "./messages.ts";

const match = { league_id: "rps", match_id: "R1M1", round_id: 1, epoch: 1 };
const START = {
  ...match,
  game: "rps.v1",
  options: {},
  seed: "s",
  timeouts: { join_ms: 1, move_ms: 1, game_over_ms: 1 },
  roles: { a: { player_id: "P01", endpoint: "http://a", match_token: "t" } },
};
const RESULT = {
  ...match,
  winner: null,
  final_scores: {},
  match_points: {},
  termination: "aborted",
  reason: "",
  faults: [],
  log_head: "",
  log: [],
};
const FAULT = { player_id: "P01", role: "a", cause: "timeout", detail: "" };
const REQUEST = { ...match, tick: 0, your_role: "a", game_state: {}, time_limit_seconds: 1, deadline: "" };
const TIMES = { turns: 1, median_ms: 0, p95_ms: 0, max_ms: 0, max_tick: 0, invalid: 0 };
const AGENT = { display_name: "Ann", game_types: ["rps.v1"], contact_endpoint: "http://a" };

/** Returns a copy of a message with another value at a path of fields. */
function withValue(message: object, [name = "", ...path]: readonly string[], value: unknown): object {
  const inner = (message as Record<string, object>)[name] ?? {};
  return { ...message, [name]: path.length === 0 ? value : withValue(inner, path, value) };
}

test.each<[string, z.ZodType, object, number, number]>([
  ["epoch", StartGame, START, 1, Number.MAX_SAFE_INTEGER],
  ["timeouts.join_ms", StartGame, START, 1, Number.MAX_SAFE_INTEGER],
  ["timeouts.move_ms", StartGame, START, 1, Number.MAX_SAFE_INTEGER],
  ["timeouts.game_over_ms", StartGame, START, 1, Number.MAX_SAFE_INTEGER],
  ["tick", MoveRequest, REQUEST, 0, Number.MAX_SAFE_INTEGER],
  ["turns", AnswerTimes, TIMES, 1, Number.MAX_SAFE_INTEGER],
  ["median_ms", AnswerTimes, TIMES, 0, Number.MAX_SAFE_INTEGER],
  ["max_tick", AnswerTimes, TIMES, 0, Number.MAX_SAFE_INTEGER],
  ["invalid", AnswerTimes, TIMES, 0, Number.MAX_SAFE_INTEGER],
  ["max_concurrent_matches", RefereeRegisterRequest, AGENT, 1, 100_000],
  ["roles.a.move_ms", StartGame, START, 1, 86_400_000],
])("the number %s is accepted within its limits only", (path, schema, message, least, most) => {
  const accepts = (value: number) => schema.safeParse(withValue(message, path.split("."), value)).success;
  expect([least - 1, least, most, most + 1].map(accepts)).toEqual([false, true, true, false]);
});

/** Whether a field is accepted with the length 1, with its greatest length, and with one more. */
function acceptedLengths(
  path: string,
  schema: z.ZodType,
  message: object,
  most: number,
  ofLength: (length: number) => unknown,
) {
  const accepts = (length: number) => schema.safeParse(withValue(message, path.split("."), ofLength(length))).success;
  return [1, most, most + 1].map(accepts);
}

test.each<[string, z.ZodType, object, number]>([
  ["seed", StartGame, START, 1_000],
  ["roles.a.dialect", StartGame, START, 100],
  ["roles.a.dialect_token", StartGame, START, 1_000],
  ["roles.a.match_token", StartGame, START, 1_000],
  ["reason", GameInviteResponse, { match_id: "R1M1", accept: true }, 2_000],
  ["cause", WireFault, FAULT, 100],
  ["detail", WireFault, FAULT, 4_000],
  ["raw", WireFault, FAULT, 4_000],
  ["reason", MatchResult, RESULT, 2_000],
  ["join_code", PlayerRegisterRequest, AGENT, 1_000],
  ["version", PlayerRegisterRequest, AGENT, 100],
  ["version", RefereeRegisterRequest, AGENT, 100],
  ["auth_token", RefereeRegisterResponse, { status: "ACCEPTED" }, 1_000],
  ["resource", StandingsUpdate, { league_id: "rps", round_id: 1, standings: [] }, 1_000],
  ["display_name", PlayerRegisterRequest, AGENT, 100],
])("the text %s is accepted up to its greatest length", (path, schema, message, most) => {
  expect(acceptedLengths(path, schema, message, most, (length) => "x".repeat(length))).toEqual([true, true, false]);
});

test.each<[string, z.ZodType, object, number, unknown]>([
  ["faults", MatchResult, RESULT, 10, FAULT],
  ["log", MatchResult, RESULT, 20_000, ""],
  ["game_types", PlayerRegisterRequest, AGENT, 100, "x"],
  ["league_ids", PlayerRegisterRequest, AGENT, 100, "x"],
  ["game_types", RefereeRegisterRequest, AGENT, 100, "x"],
  ["transports", RefereeRegisterRequest, AGENT, 20, "x".repeat(100)],
  ["page_urls", RefereeRegisterResponse, { status: "ACCEPTED" }, 100, "http://a"],
])("the list %s is accepted up to its greatest length", (path, schema, message, most, value) => {
  expect(acceptedLengths(path, schema, message, most, (length) => Array(length).fill(value))).toEqual([
    true,
    true,
    false,
  ]);
});

test("START_GAME has defaults for the properties of a player, and ignores a reason that is too long", () => {
  expect(StartGame.parse(START).roles.a).toMatchObject({ dialect: "native", legal_actions: true, round_results: true });
  const reasonOf = (restart_reason: string) => StartGame.parse({ ...START, restart_reason }).restart_reason;
  expect([reasonOf("a\nb"), reasonOf("x".repeat(300)), reasonOf("x".repeat(301))]).toEqual([
    "a b",
    "x".repeat(300),
    undefined,
  ]);
});

test("a name is trimmed, and a missing or invisible one has one fault", () => {
  expect(DisplayName.parse(" Ann ")).toBe("Ann");
  const faultsOf = (name: string) => DisplayName.safeParse(name).error?.issues.length;
  expect([faultsOf(""), faultsOf(" "), faultsOf("a\u200Bb")]).toEqual([1, 1, 1]);
});

test("an agent offers a WebSocket by naming it", () => {
  expect([null, undefined, [], ["other"], ["other", "websocket"]].map(offersWebSocket)).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
  expect([transportsField(true), transportsField(false)]).toEqual([{ transports: ["websocket"] }, {}]);
  expect(Transports.safeParse(["x".repeat(101)]).success).toBe(false);
});
