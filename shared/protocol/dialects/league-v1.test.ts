import { expect, test } from "vitest";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { derivedMessageId } from "../../lib/ids.ts";
import { newEnvelope } from "../testing/envelope.ts";
import type { Contact, RoundFacts } from "./dialect.ts";
import { leagueV1 } from "./league-v1.ts";

const CONTACT: Contact = {
  id: "league.v1",
  form: { family: "tool", place: "params" },
  playerId: "P01",
  token: "tok",
  moveMs: 2_500,
};
const MATCH = { league_id: "numbers", match_id: "R2M1" };
const INVITE = {
  ...MATCH,
  round_id: 2,
  epoch: 1,
  game: "even_odd.v1",
  options: { best_of: 3 },
  your_role: "ODD",
  roles: { EVEN: "P02", ODD: "P01" },
};
const REQUEST = {
  ...MATCH,
  tick: 0,
  game_round: 1,
  your_role: "ODD",
  game_state: { scores: { EVEN: 1, ODD: 0, X: 2 }, a: 1 },
  time_limit_seconds: 30,
  deadline: "2026-01-01T00:00:30.500Z",
  legal_actions: [1, 2],
};
const ROUND = { ...MATCH, game_round: 1, moves: { P01: 3 }, message_type: "other" };

/** Sends native messages to a player, and returns what the last one becomes. The seat of the player is that of the invitation. */
function encoded(contact: Contact, ...messages: readonly (readonly [MessageType, object])[]) {
  const { game, round_id: roundId, roles, your_role: role } = INVITE;
  const closedRounds = () =>
    messages.flatMap(([type, payload]) => (type === "ROUND_RESULT" ? [payload as RoundFacts] : []));
  const seated = { ...contact, seat: { game, roundId, roles, role, closedRounds } };
  const envelopes = messages.map(([type, payload]) =>
    newEnvelope(type, "referee:REF01", payload, { at: "2026-01-01T00:00:00.123Z" }),
  );
  return envelopes.map((envelope) => leagueV1.encode(envelope, seated, new Map())).at(-1);
}
const head = (message_type: string, round_id = 2) => ({
  protocol: "league.v1",
  message_type,
  round_id,
  sender: "referee",
  timestamp: "2026-01-01T00:00:00Z",
  conversation_id: derivedMessageId("conversation", "numbers", "R2M1"),
  auth_token: "tok",
  player_id: "P01",
  ...MATCH,
});

test("an invitation becomes GAME_START, with the options of the game and the time limit of the player", () => {
  const players = [
    { player_id: "P02", role: "EVEN" },
    { player_id: "P01", role: "ODD" },
  ];
  const game_config = { game_type: "even_odd", best_of: 3, time_limit_seconds: 2.5 };
  expect(encoded(CONTACT, ["GAME_INVITE", INVITE])).toEqual([
    [{ ...head("GAME_START"), game_config, players, your_role: "ODD" }],
  ]);
  const { moveMs: _, ...contact } = CONTACT;
  expect(encoded(contact, ["GAME_INVITE", { ...INVITE, options: null }])).toMatchObject([
    [{ game_config: { game_type: "even_odd" } }],
  ]);
  expect(JSON.stringify(encoded(contact, ["GAME_INVITE", INVITE]))).not.toContain("time_limit");
});

test("a move request has the scores by player and the closed rounds", () => {
  const round = { game_round: 1, moves: { P01: 3 }, message_type: "other" };
  const request = {
    ...head("MOVE_REQUEST"),
    game_round: 1,
    valid_moves: [1, 2],
    time_limit_seconds: 30,
    deadline: "2026-01-01T00:00:30Z",
    game_state: { a: 1, your_role: "ODD", scores: { P02: 1, P01: 0, X: 2 }, previous_rounds: [round] },
  };
  expect(encoded(CONTACT, ["GAME_INVITE", INVITE], ["ROUND_RESULT", ROUND], ["MOVE_REQUEST", REQUEST])).toEqual([
    [request],
  ]);
  const bare = { ...REQUEST, game_state: null, legal_actions: null, error: { message: "what?" } };
  expect(encoded(CONTACT, ["MOVE_REQUEST", bare])).toMatchObject([
    [
      {
        valid_moves: [],
        error: { message: "what?" },
        game_state: { your_role: "ODD", scores: {}, previous_rounds: [] },
      },
    ],
  ]);
});

test("the results of a round and of a match are those of the native messages", () => {
  const result = { final_scores: { P01: 2 }, winner: "P01", match_points: { P01: 3 }, reason: "rounds_won" };
  const all = [
    ["GAME_INVITE", INVITE],
    ["ROUND_RESULT", ROUND],
  ] as const;
  expect(encoded(CONTACT, ...all)).toEqual([[{ ...head("ROUND_RESULT"), game_round: 1, moves: { P01: 3 } }]]);
  expect(encoded(CONTACT, ...all, ["GAME_RESULT", { ...MATCH, ...result, seed: "s" }])).toEqual([
    [{ ...head("GAME_END"), ...result }],
  ]);
  expect(encoded(CONTACT, ["ROUND_ANNOUNCEMENT", { league_id: "numbers", round_id: 1 }])).toEqual([]);
});
