import { describe, expect, it } from "vitest";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import type { Exchange } from "./exchange.ts";
import { explainReply } from "./judge.ts";

const message = newEnvelope("GAME_INVITE", "referee:REF01", {});
const request = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { arguments: message } });
const answer = newEnvelope("GAME_INVITE_RESPONSE", "player:P01", { match_id: "R1M1", accept: true });

/** An exchange with this body in its reply. A body that is not text is sent as JSON. */
const exchange = (body: unknown, status = 200, fault: string | null = null): Exchange => ({
  from: "check",
  method: "POST",
  url: "http://127.0.0.1:8150/mcp",
  request,
  fault,
  durationMs: 1,
  reply: { status, contentType: "application/json", body: typeof body === "string" ? body : JSON.stringify(body) },
});
const result = (value: unknown): object => ({ jsonrpc: "2.0", id: 7, result: value });
const text = (value: unknown): object => result({ content: [{ type: "text", text: value }] });

describe("explainReply", () => {
  it("finds no fault in a correct reply, with the envelope as text or as structured content", () => {
    expect(explainReply(exchange(text(JSON.stringify(answer))))).toBeNull();
    expect(explainReply(exchange(result({ structuredContent: answer })))).toBeNull();
  });

  it.each([
    ["an empty body", exchange(""), "no body", "Answer with"],
    ["a Python dictionary", exchange("{'jsonrpc': '2.0'}"), "Python dictionary", "json.dumps"],
    ["an HTML page", exchange("<html></html>"), "is not JSON", "Answer with"],
    ["a list", exchange([]), "not a JSON object", "Answer with"],
    ["the envelope without JSON-RPC", exchange(answer), "without a JSON-RPC response", "Answer with"],
    ["a reply without jsonrpc", exchange({ id: 7, result: {} }), '"jsonrpc": "2.0"', "Answer with"],
    ["a reply without an id", exchange({ jsonrpc: "2.0", result: {} }), "has no id", "Answer with"],
    [
      "an id of another type",
      exchange({ jsonrpc: "2.0", id: "7", result: {} }),
      'has the id "7"',
      "with the same type",
    ],
    [
      "an unknown method",
      exchange({ jsonrpc: "2.0", id: 7, error: { code: -32601, message: "?" } }),
      "-32601",
      "tools/call",
    ],
    ["the envelope as the result", exchange(result(answer)), "the envelope itself", "Answer with"],
    ["a result without content", exchange(result({})), "no content[0].text", "Answer with"],
    ["an envelope as an object in text", exchange(text(answer)), "is not a string", "as a JSON string"],
    ["a text that is not JSON", exchange(text("rock")), "is not JSON: rock", "Answer with"],
    [
      "an envelope without a timestamp",
      exchange(text(JSON.stringify({ ...answer, timestamp: 1 }))),
      "timestamp",
      "UTC",
    ],
    ["another correlation_id", exchange(text(JSON.stringify({ ...answer, correlation_id: "x" }))), "is x", "omit it"],
    ["HTTP 404", exchange("not found", 404), "HTTP status 404", "usually /mcp"],
    ["HTTP 501", exchange("<html>", 501), "HTTP status 501", "do_POST"],
    ["HTTP 500 with an error", exchange({ error: { message: "KeyError" } }, 500), "500: KeyError", "read its output"],
    ["an incomplete reply", exchange("{", 200, "other side closed"), "incomplete: other side closed", "content-length"],
    [
      "a content-length that is too large",
      { ...exchange(""), fault: "no more data", reply: { status: 200, contentType: "", body: "{", missingBytes: 5 } },
      "incomplete: 5 bytes of its content-length did not arrive",
      "number of bytes of the body",
    ],
  ])("explains %s", (_, faulty, summary, advice) => {
    expect(explainReply(faulty)).toEqual({
      summary: expect.stringContaining(summary),
      advice: expect.stringContaining(advice),
    });
  });
});
