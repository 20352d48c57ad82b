import { expect, test } from "vitest";
import { freePort } from "../../runtime/process/free-ports.ts";
import { answer, failure, peers, scripted, status, usePeers } from "../testing/peer.ts";

usePeers();

const BODY = '{"jsonrpc":"2.0","id":7,"method":"choose_parity","params":{}}';

test("post sends the given text as JSON and returns the text of the response", async () => {
  const { url, calls } = await scripted((call) => answer(call, "even"));
  expect(await peers.post(url, BODY, { timeoutMs: 2_000 })).toEqual({
    ok: true,
    value: { status: 200, text: '{"jsonrpc":"2.0","id":7,"result":"even"}' },
  });
  expect(calls[0]?.body).toEqual(JSON.parse(BODY));
  expect(calls[0]?.request.headers).toMatchObject({ "content-type": "application/json" });
});

test.each([400, 404, 500])("post returns the text of a response with status %i", async (code) => {
  const { url } = await scripted(status(code, '{"detail":"no"}'));
  expect(await peers.post(url, BODY, { timeoutMs: 2_000 })).toEqual({
    ok: true,
    value: { status: code, text: '{"detail":"no"}' },
  });
});

test("post returns the header Retry-After of a response with status 429", async () => {
  const { url } = await scripted(
    ({ response }) => void response.writeHead(429, { "retry-after": "3" }).end("slow down"),
  );
  expect(await peers.post(url, BODY, { timeoutMs: 2_000 })).toEqual({
    ok: true,
    value: { status: 429, text: "slow down", retryAfter: "3" },
  });
});

test("post is a fault if the connection is refused, and is repeated with retry until a server listens", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  expect(await peers.post(url, BODY, { timeoutMs: 2_000 })).toEqual(failure("refused", "connection refused"));
  const reply = peers.post(url, BODY, { timeoutMs: 10_000, retry: true });
  await scripted(status(200, "ok"), port);
  expect(await reply).toMatchObject({ ok: true, value: { text: "ok" } });
});

test("post is a fault after its time limit, and after close", async () => {
  const { url } = await scripted(() => {});
  expect(await peers.post(url, BODY, { timeoutMs: 50 })).toEqual(failure("timeout"));
  await peers.close();
  expect(await peers.post(url, BODY, { timeoutMs: 50 })).toEqual(failure("refused", "the client is closed"));
});
