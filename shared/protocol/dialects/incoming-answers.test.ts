import { describe, expect, test } from "vitest";
import { acceptanceIn, isLater, isMethodUnknown, readingOf, reasonIn } from "./incoming-answers.ts";

const reading = (body: unknown, status = 200) =>
  readingOf({ status, text: typeof body === "string" ? body : JSON.stringify(body) });
const rpcError = (code: number, message = "failed", more: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  error: { code, message, ...more },
});

describe("the error of a response", () => {
  test.each<[unknown, number, string | null]>([
    [{ result: { status: "ok" } }, 200, null],
    [{ result: {}, error: null }, 299, null],
    [{ result: {} }, 300, 'HTTP 300 {"result":{}}'],
    [{ result: {} }, 199, 'HTTP 199 {"result":{}}'],
    ["busy\nnow", 503, "HTTP 503 busy now"],
    [rpcError(-32000, "no"), 200, "-32000: no"],
    [rpcError(-32000, "no", { data: "more" }), 200, "-32000: no more"],
    [{ error: "not now" }, 200, "not now"],
    [{ error: "" }, 200, null],
    [{ error: "no", type: "GAME_ERROR" }, 200, "no"],
    [{ message_type: "GAME_ERROR", error_code: "E001", reason: "late" }, 200, "GAME_ERROR E001 late"],
    [{ type: "LEAGUE_ERROR", error_description: "gone" }, 200, "LEAGUE_ERROR  gone"],
    [{ type: "ERROR_FREE" }, 200, null],
    [{ result: { error: { why: 1 } } }, 200, '{"why":1}'],
  ])("is read from %j with the HTTP status %i", (body, status, error) => {
    expect(reading(body, status).error).toBe(error);
  });

  test("is cut to 300 characters", () => {
    expect(reading({ error: "x".repeat(400) }).error).toBe(`${"x".repeat(300)}…`);
  });

  test("in the body is distinguished from that of the HTTP status", () => {
    expect(reading({ choice: "even" }, 500)).toMatchObject({ bodyError: null, isUnknown: true });
    expect(reading({ error: "no" }, 500)).toMatchObject({ bodyError: "no", error: "no" });
  });
});

test.each<[unknown, number, boolean]>([
  [{ result: { status: "ok" } }, 200, false],
  [rpcError(-32600), 200, true],
  [rpcError(-32601), 200, true],
  [rpcError(-32602), 200, true],
  [rpcError(-32603), 200, true],
  [rpcError(-32000), 200, false],
  [rpcError(-32000, "Unknown tool"), 200, true],
  [{ error: "the handler is not implemented" }, 200, true],
  [{ result: { status: "ignored" } }, 200, true],
  [{ result: { status: "not ignored" } }, 200, false],
  [{ result: {} }, 404, true],
  [{ result: {} }, 405, true],
  [{ result: {} }, 422, true],
  [{ result: {} }, 400, true],
  [{ result: {} }, 500, true],
  [{ result: {} }, 503, true],
  [{ result: {} }, 401, false],
  [{ result: {} }, 429, false],
])("whether %j with the HTTP status %i reports an unknown form: %s", (body, status, expected) => {
  expect(reading(body, status).isUnknown).toBe(expected);
});

test.each<[unknown, boolean]>([
  [rpcError(-32601), true],
  [{ ...rpcError(-32601), data: {} }, true],
  [rpcError(-32602, "missing params"), false],
  [rpcError(-32602, "tool not found"), true],
  [{ result: { status: "unknown message" } }, true],
  [{ result: { status: "invalid" } }, false],
  [{ result: { status: "ok" } }, false],
  [{ error: "a player is not supported" }, false],
])("whether %j reports an unknown method: %s", (body, expected) => {
  expect(isMethodUnknown(reading(body))).toBe(expected);
});

describe("an answer to an invitation", () => {
  test.each<[unknown, boolean | null]>([
    [{ accept: true }, true],
    [{ result: { accepted: "yes" } }, true],
    [{ is_accepted: " Accepted " }, true],
    [{ joined: "no" }, false],
    [{ accept: "declined" }, false],
    [{ accept: "perhaps", status: "joined" }, true],
    [{ accept: 1 }, null],
    [{ joined: " no " }, false],
    [{ status: " ready " }, true],
    [{ status: "ready", response: "hello" }, true],
    [{ response: "ACCEPTED", decision: "REJECTED" }, false],
    [{ decision: "decline" }, false],
    [{ result: "ack" }, true],
    [{ result: "busy" }, false],
    [{ message_type: "GAME_JOIN_ACK" }, true],
    [{ type: "game_invite_response" }, true],
    [{ message_type: "NO_GAME_JOIN_ACK" }, null],
    [{ message_type: "GAME_JOIN_ACK", accept: false }, false],
    [{ success: true }, true],
    [{ success: false, value: true }, false],
    [{ result: true }, true],
    [{ result: false }, false],
    [{ result: {} }, null],
    [{ success: true, error: "full" }, null],
    [{ status: "ACCEPTED", error: "full" }, true],
  ])("%j accepts it: %s", (body, expected) => expect(acceptanceIn(reading(body))).toBe(expected));

  test("may have a reason", () => {
    expect(reasonIn(reading({ result: { accept: false, reject_reason: " full " } }))).toBe("full");
    expect(reasonIn(reading({ result: {} }))).toBeNull();
  });

  test.each<[unknown, boolean]>([
    [{ result: { status: "received" } }, true],
    [{ result: " Pending " }, true],
    [{ status: "done" }, false],
    [{ status: 7 }, false],
    [{}, false],
  ])("%j says that it will be sent later: %s", (body, expected) => expect(isLater(reading(body))).toBe(expected));
});
