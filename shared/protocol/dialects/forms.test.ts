import { describe, expect, test } from "vitest";
import { dialectToken, isDialectToken, parseSpeech, speechText } from "./dialect.ts";
import { type Attempt, attemptsFor, attemptsOf, bodyOf, DEFAULT_FORM, type Form } from "./forms.ts";
import { errorReply, type ForeignRequest, replyTo, responseBody, unknownDialectBody } from "./incoming-requests.ts";

const MESSAGE = { message_type: "GAME_OVER", league_id: "rps", winner: "P01" };

test("a message is tried first in the registered form, and then in each other form once", () => {
  const first: Form = { family: "receive", place: "params" };
  const attempts = attemptsFor("GAME_OVER", first);
  expect(attempts[0]).toEqual({ ...first, method: "receive_game_over" });
  expect(attempts[1]).toEqual({ ...DEFAULT_FORM, method: "notify_match_result" });
  expect(attempts.filter(({ method }) => method === "receive_game_over")).toHaveLength(1);
  const unknown: Form = { family: "receive", place: "message" };
  expect(attemptsFor("GAME_OVER", unknown)).toHaveLength(attempts.length + 1);
});

test.each<[Form["family"], string, string, string | undefined]>([
  ["tool", "NEWS", "news", undefined],
  ["receive", "NEWS", "receive_news", undefined],
  ["tools_call", "GAME_OVER", "tools/call", "receive_game_over"],
  ["tools_call", "NEWS", "tools/call", "news"],
  ["type", "NEWS", "NEWS", undefined],
  ["type_lower", "NEWS", "news", undefined],
  ["league_handle", "NEWS", "league.handle", undefined],
  ["protocol_message", "NEWS", "protocol/message", undefined],
  ["handle_message", "NEWS", "handle_message", undefined],
])("in the form %s the message %s has the method %s", (family, type, method, tool) => {
  expect(attemptsOf(type, { family, place: "params" })[0]).toEqual({
    family,
    place: "params",
    method,
    ...(tool && { tool }),
  });
});

describe("the body of a request", () => {
  const rest = { winner: "P01" };
  const envelope = { message_type: "GAME_OVER", league_id: "rps" };
  test.each<[Partial<Attempt>, object]>([
    [{ place: "params" }, MESSAGE],
    [{ place: "message" }, { message: MESSAGE }],
    [{ place: "arguments" }, { arguments: MESSAGE }],
    [{ place: "envelope" }, { envelope, payload: rest }],
    [
      { place: "arguments", tool: "x" },
      { name: "x", arguments: MESSAGE },
    ],
    [
      { place: "message", tool: "x" },
      { name: "x", arguments: { message: MESSAGE } },
    ],
  ])("of the form %j has the params %j", (form, params) => {
    const attempt: Attempt = { family: "tool", place: "params", method: "m", ...form };
    expect(JSON.parse(bodyOf(attempt, MESSAGE, 7))).toEqual({ jsonrpc: "2.0", id: 7, method: "m", params });
  });

  test("without JSON-RPC is the message", () => {
    expect(JSON.parse(bodyOf({ family: "bare", place: "body", method: "" }, MESSAGE, 7))).toEqual(MESSAGE);
  });
});

test("a dialect and its form are stored as a text, and no other text is read", () => {
  const speech = { id: "classroom", form: { family: "tools_call", place: "arguments" } } as const;
  expect(parseSpeech(speechText(speech))).toEqual(speech);
  expect(["native", "classroom:tool", "klingon:tool:params", "classroom:x:params"].map(parseSpeech)).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test("the token of a player is derived from its id and its native token", () => {
  const token = dialectToken("P01", "hash");
  expect(token).toMatch(/^tok-p01-[\w-]{43}$/);
  const tokens = [token, dialectToken("P02", "hash"), dialectToken("P01", "other")];
  expect(tokens.map((one) => isDialectToken(one, "P01", "hash"))).toEqual([true, false, false]);
});

describe("a reply", () => {
  const REQUEST: ForeignRequest = {
    type: "query",
    form: DEFAULT_FORM,
    protocol: null,
    id: "7",
    message: { message_type: "LEAGUE_QUERY" },
  };
  const HEAD = { sender: "league_manager", at: "2026-01-01T00:00:00.123Z", conversationId: "new" };
  const common = { sender: "league_manager", timestamp: "2026-01-01T00:00:00Z" };

  test("has the protocol and the conversation of the request", () => {
    expect(replyTo(REQUEST, HEAD, "X", { a: 1 })).toEqual({
      ...common,
      protocol: "league.v2",
      conversation_id: "new",
      message_type: "X",
      a: 1,
    });
    const request = { ...REQUEST, protocol: "league.v1", message: { conversation_id: "old" } };
    expect(replyTo(request, HEAD, "X", {})).toMatchObject({ protocol: "league.v1", conversation_id: "old" });
  });

  test("that is an error names its code, its reason and the message of the request", () => {
    expect(errorReply(REQUEST, HEAD, "E005", "who?")).toMatchObject({
      message_type: "LEAGUE_ERROR",
      error_code: "E005",
      error_description: "PLAYER_NOT_REGISTERED",
      success: false,
      status: "REJECTED",
      reason: "who?",
      original_message_type: "LEAGUE_QUERY",
      context: {},
    });
  });

  test("has the message in each place of a response", () => {
    const content = [{ type: "text", text: JSON.stringify(MESSAGE) }];
    expect(JSON.parse(responseBody(REQUEST, MESSAGE))).toEqual({
      jsonrpc: "2.0",
      id: "7",
      result: {
        ...MESSAGE,
        response: MESSAGE,
        content,
        envelope: expect.objectContaining({ league_id: "rps" }),
        payload: { winner: "P01", league_id: "rps" },
      },
    });
    const bare = responseBody({ ...REQUEST, form: { family: "bare", place: "body" } }, MESSAGE);
    expect(JSON.parse(bare)).toEqual({ ...MESSAGE, response: MESSAGE });
  });

  test("to a message in no dialect is an error that names the field", () => {
    const error = (field: string) => JSON.parse(unknownDialectBody(REQUEST, field, "is wrong"));
    expect(error("message_type")).toMatchObject({
      jsonrpc: "2.0",
      id: "7",
      error: {
        code: -32602,
        message: expect.stringMatching(/^message_type: is wrong\. The dialects spoken here are native /),
      },
    });
    const data = {
      field: "message_type",
      dialects: ["native", "league.v1", "classroom"],
      original_message_type: "LEAGUE_QUERY",
    };
    expect(error("message_type").error.data).toEqual(data);
    expect(error("protocol").error.data).toMatchObject({ error_code: "E018" });
  });
});
