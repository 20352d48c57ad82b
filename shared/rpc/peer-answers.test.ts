import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newEnvelope } from "../protocol/envelope.ts";
import { createPeers, type Peers } from "./peer.ts";

const REQUEST = newEnvelope("MOVE_REQUEST", "referee:REF01", { match_id: "R1M1" });
const REPLY = newEnvelope("MOVE_RESPONSE", "player:P01", { move: "rock" }, { correlationId: REQUEST.message_id });

let peers: Peers;
const servers: Server[] = [];
const open = new Set<Socket>();

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.on("connection", (socket) => open.add(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
const serve = (listener: RequestListener): Promise<string> => listen(createServer(listener));

beforeEach(() => {
  peers = createPeers();
});
afterEach(async () => {
  await peers.close();
  for (const socket of open) socket.destroy();
  open.clear();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

const texts = (value: unknown) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const message = (url: string) => peers.message(url, REQUEST, { timeoutMs: 2_000 });
const failure = (cause: string, detail: unknown = expect.any(String)) => ({
  ok: false,
  error: expect.objectContaining({ cause, detail }),
});

/** The first call of these peers, its id 1, gets `text` for an answer. */
async function answered(text: string, status = 200) {
  peers = createPeers();
  return message(await serve((_, response) => void response.writeHead(status).end(text)));
}

describe("an answer that is none, and why", () => {
  const rpc = (fields: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...fields });
  const error = { code: -32603, message: "Internal error" };

  test.each<[string, number, string, unknown]>([
    ["oops", 500, "http_error", "HTTP 500"],
    [rpc({ error }), 500, "http_error", "HTTP 500, JSON-RPC error -32603: Internal error"],
    [rpc({ result: texts(REPLY) }), 404, "http_error", "HTTP 404"],
    ["null", 500, "http_error", "HTTP 500"],
    ["", 204, "bad_json", expect.any(String)],
    ["", 200, "bad_json", expect.any(String)],
    ["<html>", 200, "bad_json", expect.any(String)],
    ['{"jsonrpc":"2.0","id":1,"result":{', 200, "bad_json", expect.any(String)],
    ["null", 200, "bad_reply", expect.any(String)],
    ["7", 200, "bad_reply", expect.any(String)],
    ['"text"', 200, "bad_reply", expect.any(String)],
    ["{}", 200, "bad_reply", expect.any(String)],
    [`[${rpc({ result: texts(REPLY) })}]`, 200, "bad_reply", expect.any(String)],
    [JSON.stringify(REPLY), 200, "bad_reply", expect.any(String)],
    [rpc({}), 200, "bad_reply", expect.any(String)],
    [rpc({ error }), 200, "bad_reply", "JSON-RPC error -32603: Internal error"],
    [rpc({ error: "sorry" }), 200, "bad_reply", expect.any(String)],
    [rpc({ result: "rock" }), 200, "bad_reply", expect.any(String)],
    [rpc({ result: { content: "rock" } }), 200, "bad_reply", expect.any(String)],
    [rpc({ result: {} }), 200, "bad_reply", expect.stringContaining("league.v2")],
    [rpc({ result: texts({ ...REPLY, sender: "me" }) }), 200, "bad_reply", expect.stringContaining("sender")],
    [rpc({ result: { content: [{ type: "text", text: "rock" }] } }), 200, "bad_json", expect.any(String)],
  ])("%j with HTTP %i is %s", async (text, status, cause, detail) => {
    expect(await answered(text, status)).toEqual(failure(cause, detail));
  });

  test.each([2, "1", null, 1.5])("id %j is not the one that was asked", async (id) => {
    expect(await answered(rpc({ id, result: texts(REPLY) }))).toEqual(
      failure("bad_reply", `the answer has id ${JSON.stringify(id)}, not 1`),
    );
  });

  test("what came back is kept, cut to 2 kB", async () => {
    expect(await answered("<html>", 502)).toMatchObject({ error: { raw: "<html>" } });
    for (const text of ["x".repeat(5_000), rpc({ result: { content: "é".repeat(5_000) } })]) {
      const reply = await answered(text);
      const kept = reply.ok ? "" : (reply.error.raw ?? "");
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(2_048);
      expect(kept.length).toBeGreaterThan(900);
    }
  });

  test("100,000 brackets are an answer that is none", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    for (const text of [deep, rpc({ result: 0 }).replace("0}", `${deep}}`)])
      expect(await answered(text)).toEqual(failure("bad_reply"));
  });

  test("what is not even HTTP", async () => {
    const url = await listen(
      createTcpServer((socket) => void socket.on("error", () => {}).end("SSH-2.0-OpenSSH_9.9\r\n")),
    );
    expect(await message(url)).toEqual(failure("refused", expect.stringContaining("connection failed")));
  });

  test.each([301, 302, 307, 308])("a redirect (%i) is not followed", async (status) => {
    const answer = rpc({ result: texts(REPLY) });
    const url = await serve((request, response) => {
      followed ||= request.url === "/elsewhere";
      if (followed) response.end(answer);
      else response.writeHead(status, { location: "/elsewhere" }).end(answer);
    });
    let followed = false;
    expect(await message(url)).toEqual(failure("http_error", `HTTP ${status}`));
    expect(followed).toBe(false);
  });
});
