import { describe, expect, test } from "vitest";
import { foreignRequestIn, registrationIn } from "./incoming-requests.ts";

const REGISTER = { message_type: "LEAGUE_REGISTER_REQUEST", protocol: "league.v2" };
const call = (method: string, params?: unknown, more: object = { id: 1 }) => ({
  jsonrpc: "2.0",
  method,
  params,
  ...more,
});

describe("a message of another dialect", () => {
  test.each<[string, unknown, string, string, string]>([
    ["a tool with the message in params", call("register_player", REGISTER), "register", "tool", "params"],
    ["its type as the method", call("LEAGUE_REGISTER_REQUEST", REGISTER), "register", "type", "params"],
    [
      "its type in lower case",
      call("league_register_request", { player_meta: {} }),
      "register",
      "type_lower",
      "params",
    ],
    ["handle_message", call("handle_message", { message: REGISTER }), "register", "handle_message", "message"],
    ["protocol/message", call("protocol/message", REGISTER), "register", "protocol_message", "params"],
    [
      "league.handle",
      call("league.handle", { envelope: REGISTER, payload: { a: 1 } }),
      "register",
      "league_handle",
      "envelope",
    ],
    ["params.arguments", call("register", { arguments: REGISTER }), "register", "tool", "arguments"],
    [
      "tools/call",
      call("tools/call", { name: "register", arguments: REGISTER }),
      "register",
      "tools_call",
      "arguments",
    ],
    [
      "tools/call with message",
      call("tools/call", { name: "x", arguments: { message: REGISTER } }),
      "register",
      "tools_call",
      "message",
    ],
    [
      "tools/call with an envelope",
      call("tools/call", { name: "x", arguments: { envelope: REGISTER } }),
      "register",
      "tools_call",
      "envelope",
    ],
    [
      "tools/call with player_meta",
      call("tools/call", { name: "register", arguments: { player_meta: {} } }),
      "register",
      "tools_call",
      "arguments",
    ],
    ["a body without JSON-RPC", REGISTER, "register", "bare", "body"],
    ["a body with player_meta", { type: "register", player_meta: {} }, "register", "bare", "body"],
    ["a query", call("x", { type: "LEAGUE_QUERY" }), "query", "tool", "params"],
    ["a method without a message", call("handle-league.QUERY"), "query", "tool", "params"],
    ["an answer to an invitation", call("x", { message_type: "GAME_JOIN_ACK" }), "join_ack", "tool", "params"],
    ["a move", call("x", { message_type: "ChooseParityResponse" }), "move", "tool", "params"],
    [
      "a payload without a type",
      call("register", { message: { payload: { name: "A" } } }),
      "register",
      "tool",
      "message",
    ],
    ["a message of a referee", call("x", { message_type: "MATCH_RESULT_REPORT" }), "referee", "tool", "params"],
    ["a type that no dialect has", call("x", { message_type: "HELLO" }), "unknown", "tool", "params"],
    ["only its protocol", call("x", { protocol: "league.v9" }), "unknown", "tool", "params"],
  ])("is found in %s", (_, body, type, family, place) => {
    expect(foreignRequestIn(body)).toMatchObject({ type, form: { family, place } });
  });

  test.each<[string, unknown]>([
    ["no object", [REGISTER]],
    ["null", null],
    ["a body with another type", { type: "LEAGUE_QUERY" }],
    ["a native call of a tool", call("tools/call", { name: "register_referee", arguments: { endpoint: "x" } })],
    ["a call of a tool without a name", call("tools/call", { arguments: REGISTER })],
    ["a call of a tool without arguments", call("tools/call", { name: "register" })],
    ["a call of a tool without params", call("tools/call")],
    [
      "a native envelope",
      call("tools/call", { name: "league_message", arguments: { message: { type: "ACK", payload: {} } } }),
    ],
    ["a method of MCP", call("resources/read", REGISTER)],
    ["a notification of MCP", call("notifications/initialized", REGISTER)],
    ["a JSON-RPC message without a method", { jsonrpc: "2.0", ...REGISTER }],
    ["a body without a message type", { hello: 1 }],
    ["an unknown method without a message", call("hello", { a: 1 })],
    ["an unknown method with a list", call("hello", [1])],
  ])("is not %s", (_, body) => expect(foreignRequestIn(body)).toBeNull());

  test("has the fields of its parts, those of the innermost first, its protocol and its id", () => {
    const parts = { envelope: { ...REGISTER, a: 2, b: 2 }, payload: { b: 3 }, a: 1, c: 1 };
    expect(foreignRequestIn(call("league.handle", parts, { id: "x" }))).toMatchObject({
      message: { ...REGISTER, a: 2, b: 3, c: 1 },
      protocol: "league.v2",
      id: "x",
    });
    const message = { message_type: "LEAGUE_QUERY", a: 1, payload: { a: 2 } };
    expect(foreignRequestIn(call("x", { message }, { id: null }))).toMatchObject({
      message: { a: 2 },
      protocol: null,
      id: null,
    });
    expect(foreignRequestIn(call("x", { message, payload: 1 }, { id: 7 }))).toMatchObject({ message: { a: 2 }, id: 7 });
    expect(foreignRequestIn(call("x", message, { id: {} }))?.id).toBeNull();
    expect(foreignRequestIn(call("x", message))?.message).toMatchObject({ a: 2 });
    expect(foreignRequestIn(call("x", { envelope: message }))?.message).toMatchObject({ a: 1 });
  });
});

test("a registration has the first of the usual fields, in player_meta or in the message", () => {
  const registration = (fields: object) =>
    registrationIn(
      foreignRequestIn(call("register", { ...REGISTER, ...fields })) as NonNullable<
        ReturnType<typeof foreignRequestIn>
      >,
    );
  expect(
    registration({
      sender: "player:x",
      league_id: "rps",
      name: "outer",
      join_code: "oak",
      version: "2",
      player_meta: { display_name: " Ann ", game_types: ["rps", 7, "chess"], callback_url: "http://a" },
    }),
  ).toEqual({
    endpoint: "http://a",
    name: "Ann",
    version: "2",
    leagueId: "rps",
    joinCode: "oak",
    gameTypes: ["rps", "chess"],
  });
  expect(registration({ sender: "alpha", game_type: "even_odd", player_meta: "x" })).toEqual({
    endpoint: null,
    name: "alpha",
    version: null,
    leagueId: null,
    joinCode: null,
    gameTypes: ["even_odd"],
  });
  expect(registration({ agent: { agent_name: "Bob" } })).toMatchObject({ name: null, gameTypes: [] });
  expect(registration({ agent_info: { agent_name: "Bob" } }).name).toBe("Bob");
});
