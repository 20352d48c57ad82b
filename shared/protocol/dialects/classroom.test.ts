import { describe, expect, test } from "vitest";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { derivedMessageId } from "../../lib/ids.ts";
import { newEnvelope } from "../testing/envelope.ts";
import { classroom } from "./classroom.ts";
import type { Contact, RoundFacts } from "./dialect.ts";

const CONTACT: Contact = {
  id: "classroom",
  form: { family: "tool", place: "params" },
  playerId: "P01",
  token: "tok",
  standings: { wins: 1, draws: 0, losses: 2 },
};
const MATCH = { league_id: "parity", match_id: "R2M1" };
const INVITE = {
  ...MATCH,
  round_id: 2,
  epoch: 1,
  game: "even_odd.v1",
  options: {},
  your_role: "ODD",
  roles: { EVEN: "P02", ODD: "P01" },
};
const REQUEST = {
  ...MATCH,
  tick: 0,
  game_round: 1,
  your_role: "ODD",
  game_state: { variant: "draw" },
  legal_actions: ["even", "odd"],
  time_limit_seconds: 30,
  deadline: "2026-01-01T00:00:30.500Z",
};
const RESULT = {
  ...MATCH,
  winner: "P01",
  termination: "normal",
  reason: "rounds_won",
  seed: "s",
  log_head: "h",
  final_scores: { P01: 2, P02: 1 },
  match_points: { P01: 3, P02: 0 },
};
const ROUND = { ...MATCH, game_round: 1, moves: { P01: "even", P02: 3 }, drawn_number: 7, number_parity: "ODD" };
const STANDINGS = {
  league_id: "parity",
  round_id: 3,
  standings: [{ rank: 1, player_id: "P02", display_name: "Bob", points: 6, state: "ACTIVE" }],
};

const envelopeOf = (type: MessageType, payload: object, sender = "referee:REF01") =>
  newEnvelope(type, sender, payload, { at: "2026-01-01T00:00:00.123Z", messageId: "id" });

type Messages = readonly (readonly [MessageType, object])[];

/** Sends native messages to a player, and returns what the last one becomes. The seat of the player is that of the invitation among them. */
function encoded(...messages: Messages) {
  const of = (wanted: MessageType) => messages.flatMap(([type, payload]) => (type === wanted ? [payload] : []));
  const { game, round_id: roundId, roles, your_role: role } = { ...INVITE, ...of("GAME_INVITE")[0] };
  const closedRounds = () => of("ROUND_RESULT") as readonly RoundFacts[];
  const contact = { ...CONTACT, seat: { game, roundId, roles, role, closedRounds } };
  const memory = new Map();
  return messages.map(([type, payload]) => classroom.encode(envelopeOf(type, payload), contact, memory)).at(-1) ?? [];
}
/** The message that a native message becomes. */
const message = (...messages: Messages) => encoded(...messages)[0]?.[0];

const head = {
  protocol: "league.v2",
  sender: "referee:REF01",
  timestamp: "2026-01-01T00:00:00Z",
  auth_token: "tok",
  conversation_id: derivedMessageId("conversation", "parity", "R2M1"),
  game_id: "R2M1",
  ...MATCH,
};

test("an invitation has the fields of the match in both places", () => {
  const about = { game_type: "even_odd", player_id: "P01", role_in_match: "PLAYER_B", opponent_id: "P02" };
  expect(encoded(["GAME_INVITE", INVITE])).toEqual([
    [
      {
        ...head,
        ...about,
        message_type: "GAME_INVITATION",
        round_id: 2,
        invitation_id: "id",
        your_role: "ODD",
        game_invitation: { ...MATCH, round_id: 2, ...about },
      },
    ],
  ]);
  expect(message(["GAME_INVITE", { ...INVITE, roles: { ODD: "P01" } }])).toMatchObject({
    role_in_match: "PLAYER_A",
    opponent_id: "",
  });
  expect(message(["GAME_INVITE", { ...INVITE, your_role: "X" }])).toMatchObject({ role_in_match: "PLAYER_A" });
});

describe("a move request", () => {
  test("in even/odd is a call for a parity, or for a move", () => {
    const context = { opponent_id: "P02", round_id: 2, your_standings: CONTACT.standings };
    const common = {
      ...head,
      ...context,
      your_standings: undefined,
      player_id: "P01",
      game_type: "even_odd",
      game_round: 1,
      your_role: "ODD",
      game_state: { variant: "draw" },
      time_limit_seconds: 30,
      deadline: "2026-01-01T00:00:30Z",
      context,
    };
    const options = ["even", "odd"];
    const state = { game_state: { variant: "draw" }, your_role: "ODD" };
    expect(encoded(["GAME_INVITE", INVITE], ["MOVE_REQUEST", { ...REQUEST, legal_actions: [1] }])).toEqual([
      [
        { ...common, message_type: "CHOOSE_PARITY_CALL", parity_context: context, valid_options: options },
        {
          ...common,
          message_type: "GAME_MOVE_CALL",
          valid_options: options,
          move_request: { move_type: "choose_parity", valid_options: options, context: { ...context, ...state } },
        },
      ],
    ]);
  });

  test("in another game is a call for a move, with the board of a board game", () => {
    const invite = { ...INVITE, game: "tic_tac_toe.v1", roles: { x: "P01", o: "P02" }, your_role: "x" };
    const request = { ...REQUEST, your_role: "x", legal_actions: ["a1"], game_state: { board: ["x..", ".o."] } };
    expect(encoded(["GAME_INVITE", invite], ["MOVE_REQUEST", request])).toEqual([
      [
        expect.objectContaining({
          message_type: "GAME_MOVE_CALL",
          game_type: "tic_tac_toe",
          valid_options: ["a1"],
          your_mark: "X",
          board: [
            ["X", "", ""],
            ["", "O", ""],
          ],
          move_request: expect.objectContaining({ move_type: "make_move", valid_options: ["a1"] }),
        }),
      ],
    ]);
    const columns = { ...request, your_role: "red", game_state: { board: ["r."] } };
    expect(message(["GAME_INVITE", { ...invite, game: "connect_four.v1" }], ["MOVE_REQUEST", columns])).toMatchObject({
      board: [["R", ""]],
      your_mark: "R",
    });
    expect(message(["GAME_INVITE", { ...invite, game: "rps.v1" }], ["MOVE_REQUEST", request])).not.toHaveProperty(
      "board",
    );
    expect(message(["GAME_INVITE", invite], ["MOVE_REQUEST", { ...request, game_state: null }])).not.toHaveProperty(
      "board",
    );
  });

  test("that is repeated follows the error about the previous answer", () => {
    const [error, calls] = encoded(
      ["GAME_INVITE", INVITE],
      ["MOVE_REQUEST", { ...REQUEST, error: { message: "what?" } }],
    );
    expect(error).toEqual([
      {
        ...head,
        message_type: "GAME_ERROR",
        error_code: "E004",
        error_description: "INVALID_PARITY_CHOICE",
        affected_player: "P01",
        action_required: "CHOOSE_PARITY_RESPONSE",
        max_retries: 3,
        message: "what?",
      },
    ]);
    expect(calls).toHaveLength(2);
    expect(message(["MOVE_REQUEST", { ...REQUEST, error: {} }])).toMatchObject({
      message_type: "GAME_ERROR",
      message: "",
    });
  });
});

test.each([
  ["refused", "E009", "CONNECTION_ERROR"],
  ["timeout", "E001", "TIMEOUT_ERROR"],
])("a request without an answer by the cause %s has the error %s", (cause, error_code, error_description) => {
  expect(message(["GAME_ERROR", { ...MATCH, message: "late", context: { cause } }])).toMatchObject({
    error_code,
    error_description,
    consequence: "Technical loss",
    action_required: "NONE",
    message: "late",
  });
  expect(message(["GAME_ERROR", { ...MATCH, message: "late" }])).toMatchObject({ error_code: "E001" });
});

describe("the result of a match", () => {
  test("has the facts of its last round and the choices as parities", () => {
    const facts = { drawn_number: 7, number_parity: "odd", choices: { P01: "even", P02: "odd" } };
    const earlier = { ...ROUND, drawn_number: 2, number_parity: "EVEN" };
    const all = [
      ["GAME_INVITE", INVITE],
      ["ROUND_RESULT", earlier],
      ["ROUND_RESULT", ROUND],
      ["GAME_RESULT", RESULT],
    ] as const;
    expect(message(...all)).toEqual({
      ...head,
      ...facts,
      message_type: "GAME_OVER",
      round_id: 2,
      game_type: "even_odd",
      player_id: "P01",
      opponent_id: "P02",
      game_result: {
        status: "WIN",
        winner_player_id: "P01",
        ...facts,
        reason: "rounds won",
        scores: RESULT.match_points,
      },
      winner: "P01",
      winner_player_id: "P01",
      winner_id: "P01",
      result: "WIN",
      outcome: "WIN",
      your_choice: "even",
      opponent_choice: "odd",
      points: 3,
      score: RESULT.match_points,
      final_scores: RESULT.final_scores,
      reason: "rounds won",
    });
  });

  test("of the variant with a sum has the sum and its parity", () => {
    const round = { ...MATCH, moves: { P01: 3, P02: 4 }, sum: 7, sum_type: "odd" };
    expect(message(["GAME_INVITE", INVITE], ["ROUND_RESULT", round], ["GAME_RESULT", RESULT])).toMatchObject({
      drawn_number: 7,
      number_parity: "odd",
      your_choice: "odd",
      opponent_choice: "even",
    });
  });

  test.each([
    [{ winner: "P02" }, "LOSS", "WIN"],
    [{ winner: null }, "DRAW", "DRAW"],
    [{ winner: null, termination: "forfeit" }, "LOSS", "TECHNICAL_LOSS"],
    [{ termination: "forfeit" }, "WIN", "TECHNICAL_LOSS"],
    [{ winner: null, termination: "aborted" }, "DRAW", "DRAW"],
  ])("with %j has the outcome %s and the status %s, also without rounds", (change, outcome, status) => {
    expect(message(["GAME_RESULT", { ...RESULT, ...change, match_points: {} }])).toMatchObject({
      result: outcome,
      outcome,
      game_result: { status },
      points: 0,
      drawn_number: null,
      number_parity: null,
      choices: {},
      your_choice: null,
      opponent_choice: null,
    });
  });
});

test("the announcement of a round lists its matches, and has no match", () => {
  const match = {
    match_id: "R2M1",
    game: "even_odd.v1",
    roles: { EVEN: "P02", ODD: "P01" },
    referee_endpoint: "http://r",
  };
  const announced = message([
    "ROUND_ANNOUNCEMENT",
    { league_id: "parity", round_id: 2, matches: [match, { ...match, roles: {} }] },
  ]);
  expect(announced).toMatchObject({
    round_id: 2,
    conversation_id: derivedMessageId("conversation", "parity", "round 2"),
    matches: [
      { match_id: "R2M1", game_type: "even_odd", player_A_id: "P02", player_B_id: "P01", referee_endpoint: "http://r" },
      { player_A_id: "", player_B_id: "" },
    ],
  });
  expect(announced).not.toHaveProperty("game_id");
});

describe("the standings", () => {
  const end = (round_id: number, next_round_id: number | null) =>
    ["ROUND_END", { league_id: "parity", round_id, matches_completed: 2, next_round_id, summary: { a: 1 } }] as const;

  test("are followed by the rounds that have ended since the last ones", () => {
    const messages = encoded(end(1, 2), ["LEAGUE_STANDINGS_UPDATE", STANDINGS], end(2, 3), [
      "LEAGUE_STANDINGS_UPDATE",
      STANDINGS,
    ]);
    const { state: _, ...row } = STANDINGS.standings[0] as { state: string };
    expect(messages).toEqual([
      [expect.objectContaining({ message_type: "LEAGUE_STANDINGS_UPDATE", round_id: 3, standings: [row] })],
      [
        expect.objectContaining({
          message_type: "ROUND_COMPLETED",
          round_id: 2,
          matches_played: 2,
          matches_completed: 2,
          next_round_id: 3,
          summary: { total_matches: 2, a: 1 },
        }),
      ],
    ]);
  });

  test("after the last round are followed by the end of the league", () => {
    const messages = encoded(end(1, 2), end(2, null), ["LEAGUE_STANDINGS_UPDATE", STANDINGS]);
    expect(messages).toHaveLength(4);
    const last = messages.at(-1)?.[0];
    expect(last).toMatchObject({
      message_type: "LEAGUE_COMPLETED",
      total_rounds: 3,
      total_matches: 4,
      final_standings: [{ player_id: "P02" }],
      champion: { player_id: "P02", display_name: "Bob", points: 6 },
    });
    expect(last).not.toHaveProperty("round_id");
    const empty = encoded(end(2, null), ["LEAGUE_STANDINGS_UPDATE", { ...STANDINGS, standings: [] }]);
    expect(empty.at(-1)?.[0]).toMatchObject({ message_type: "LEAGUE_COMPLETED", champion: undefined });
  });
});

test("the manager has no id as a sender, and other native messages become none", () => {
  const envelope = envelopeOf(
    "ROUND_ANNOUNCEMENT",
    { league_id: "parity", round_id: 1, matches: [] },
    "league_manager:x",
  );
  expect(classroom.encode(envelope, CONTACT, new Map())[0]?.[0]).toMatchObject({ sender: "league_manager" });
  expect(encoded(["ROUND_START", { league_id: "parity", round_id: 1 }])).toEqual([]);
});
