import { createServer as createTcpServer } from "node:net";
import { describe, expect, test } from "vitest";
import { freePort } from "../../runtime/process/free-ports.ts";
import { textResult } from "../testing/json-rpc.ts";
import {
  answer,
  failure,
  listen,
  message,
  newPeers,
  peers,
  REPLY,
  REQUEST,
  scripted,
  status,
  usePeers,
} from "../testing/peer.ts";

usePeers();

/** Returns the result of a call with id 1 that a server answers with `text` and the HTTP status `code`. */
async function resultOfAnswer(text: string, code = 200) {
  newPeers();
  return message((await scripted(status(code, text))).url);
}

test("an answer may begin with a byte order mark, and so may the envelope in it", async () => {
  const text = `\uFEFF${JSON.stringify(REPLY)}`;
  const result = { content: [{ type: "text", text }] };
  const answered = await resultOfAnswer(`\uFEFF${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}`);
  expect(answered).toMatchObject({ ok: true, value: { payload: { move: "rock" } } });
});

describe("an invalid answer", () => {
  const rpc = (fields: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...fields });
  const error = { code: -32603, message: "Internal error" };

  test.each<[string, number, string, unknown]>([
    ["oops", 500, "http_error", "HTTP 500"],
    [rpc({ error }), 500, "http_error", "HTTP 500, JSON-RPC error -32603: Internal error"],
    [rpc({ result: textResult(REPLY) }), 404, "http_error", "HTTP 404"],
    ["null", 500, "http_error", "HTTP 500"],
    ["", 204, "bad_json", expect.any(String)],
    ["", 200, "bad_json", expect.any(String)],
    ["<html>", 200, "bad_json", expect.any(String)],
    ['{"jsonrpc":"2.0","id":1,"result":{', 200, "bad_json", expect.any(String)],
    ["null", 200, "bad_reply", expect.any(String)],
    ["7", 200, "bad_reply", expect.any(String)],
    ['"text"', 200, "bad_reply", expect.any(String)],
    ["{}", 200, "bad_reply", expect.any(String)],
    [`[${rpc({ result: textResult(REPLY) })}]`, 200, "bad_reply", expect.any(String)],
    [JSON.stringify(REPLY), 200, "bad_reply", expect.any(String)],
    [rpc({}), 200, "bad_reply", expect.any(String)],
    [rpc({ error }), 200, "bad_reply", "JSON-RPC error -32603: Internal error"],
    [rpc({ error: "sorry" }), 200, "bad_reply", expect.any(String)],
    [rpc({ result: "rock" }), 200, "bad_reply", expect.any(String)],
    [rpc({ result: { content: "rock" } }), 200, "bad_reply", expect.any(String)],
    [rpc({ result: {} }), 200, "bad_reply", expect.stringContaining("league.v2")],
    [rpc({ result: textResult({ ...REPLY, sender: "me" }) }), 200, "bad_reply", expect.stringContaining("sender")],
    [rpc({ result: { content: [{ type: "text", text: "rock" }] } }), 200, "bad_json", expect.any(String)],
    [
      rpc({ result: { content: [{ type: "text", text: "KeyError: 'tick'" }], isError: true } }),
      200,
      "bad_reply",
      "the tool reports an error: KeyError: 'tick'",
    ],
    [
      rpc({ result: { ...textResult({ error: "no such match" }), isError: true } }),
      200,
      "bad_reply",
      'the tool reports an error: {"error":"no such match"}',
    ],
    [
      rpc({ error: { ...error, data: { faults: [{ path: "payload.x", message: "must be 1" }] } } }),
      200,
      "bad_reply",
      "JSON-RPC error -32603: Internal error; payload.x: must be 1",
    ],
    [
      rpc({ error: { ...error, data: { faults: [] } } }),
      200,
      "bad_reply",
      'JSON-RPC error -32603: Internal error {"faults":[]}',
    ],
  ])("%j with HTTP status %i is a fault %s", async (text, status, cause, detail) => {
    expect(await resultOfAnswer(text, status)).toEqual(failure(cause, detail));
  });

  test("is part of the fault, cut to 20,000 characters", async () => {
    expect(await resultOfAnswer("<html>", 502)).toMatchObject({ error: { raw: "<html>" } });
    for (const text of ["x".repeat(50_000), rpc({ result: { content: "é".repeat(50_000) } })]) {
      const reply = await resultOfAnswer(text);
      const raw = reply.ok ? "" : (reply.error.raw ?? "");
      expect(raw.length).toBeLessThanOrEqual(20_000);
      expect(raw.length).toBeGreaterThan(9_000);
    }
  });

  test("with 100,000 nested arrays is a fault bad_reply", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    for (const text of [deep, rpc({ result: 0 }).replace("0}", `${deep}}`)])
      expect(await resultOfAnswer(text)).toEqual(failure("bad_reply"));
  });

  test.each([
    { error: { code: { toString: 1, valueOf: 1 }, message: "no" } },
    { error: { code: -32000, message: { toString: 1, valueOf: 1 } } },
    { error: { code: -32000, message: ["a", { toJSON: 1 }] } },
    { id: { toString: 1 }, result: textResult(REPLY) },
  ])("with %j, whose conversion to text throws, is a fault bad_reply", async (fields) => {
    expect(await resultOfAnswer(rpc(fields))).toEqual(failure("bad_reply"));
  });

  test("with an error that contains 60,000 nested arrays is a fault bad_reply", async () => {
    const deep = "[".repeat(60_000) + "]".repeat(60_000);
    for (const field of ["code", "message", "data"]) {
      const text = rpc({ error: { code: 1, message: "no", [field]: null } }).replace("null", deep);
      expect(await resultOfAnswer(text)).toEqual(failure("bad_reply"));
    }
  });

  test("that is not HTTP is a fault refused", async () => {
    const port = await listen(
      createTcpServer((socket) => void socket.on("error", () => {}).end("SSH-2.0-OpenSSH_9.9\r\n")),
    );
    expect(await message(`http://127.0.0.1:${port}/mcp`)).toEqual(failure("refused", "the answer is not HTTP"));
  });

  test.each([301, 302, 307, 308])("with the redirect %i is a fault, and the redirect is not followed", async (code) => {
    const redirectTarget = await scripted(answer);
    const { url } = await scripted(
      ({ response }) => void response.writeHead(code, { location: redirectTarget.url }).end(),
    );
    expect(await message(url)).toEqual(failure("http_error", `HTTP ${code}`));
    expect(redirectTarget.calls).toEqual([]);
  });
});

describe("notify", () => {
  const notify = (url: string, timeoutMs = 2_000) => peers.notify(url, REQUEST, { timeoutMs });

  test.each([
    [200, "thanks"],
    [202, ""],
    [204, ""],
    [200, '{"error":{}}'],
  ])("succeeds with HTTP status %i and body %j", async (code, text) => {
    const { url, calls } = await scripted(status(code, text));
    expect(await notify(url)).toEqual({ ok: true, value: null });
    expect(calls[0]?.body).toMatchObject({
      method: "tools/call",
      params: { name: "league_message", arguments: REQUEST },
    });
  });

  test("returns a fault with its cause for any other outcome", async () => {
    expect(await notify((await scripted(status(500))).url)).toEqual(failure("http_error", "HTTP 500"));
    expect(await notify((await scripted(status(307))).url)).toEqual(failure("http_error", "HTTP 307"));
    expect(await notify((await scripted(() => {})).url, 50)).toEqual(failure("timeout"));
    expect(await notify(`http://127.0.0.1:${await freePort()}`)).toEqual(failure("refused"));
  });

  test("returns the HTTP status in a fault only for an answer that is not 2xx, as message does", async () => {
    const statusOf = async (answer: Promise<{ error?: { status?: number } }>) => (await answer).error?.status;
    expect(await statusOf(notify((await scripted(status(404))).url) as never)).toBe(404);
    expect(await statusOf(message((await scripted(status(429, "{}"))).url, { timeoutMs: 2_000 }) as never)).toBe(429);
    expect(
      await statusOf(message((await scripted(status(200, "{}"))).url, { timeoutMs: 2_000 }) as never),
    ).toBeUndefined();
    expect(await statusOf(notify(`http://127.0.0.1:${await freePort()}`) as never)).toBeUndefined();
  });
});

describe("probe", () => {
  test("is alive if a GET is answered with 2xx in time, refused if no program listens, and otherwise silent", async () => {
    const { url, calls } = await scripted(status(200, "{}"));
    expect(await peers.probe(url.replace("/mcp", "/health"), 2_000)).toBe("alive");
    expect(calls[0]?.request).toMatchObject({ method: "GET", url: "/health" });
    for (const script of [status(503), status(302), () => {}])
      expect(await peers.probe((await scripted(script)).url, 50)).toBe("silent");
    expect(await peers.probe(`http://127.0.0.1:${await freePort()}`, 2_000)).toBe("refused");
  });
});
