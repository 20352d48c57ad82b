import { expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { startReverseProxy } from "#shared/rpc/testing/reverse-proxy.ts";
import type { Wire } from "../testing/test-manager.ts";
import { Inboxes } from "./inboxes.ts";
import { answerTo, messageTo, roundOf, startInbox } from "./testing/inbox.ts";

it("a registration without an endpoint is answered with the URL of an inbox", async () => {
  const { inbox, manager } = await startInbox();
  expect(inbox).toBe(`http://127.0.0.1:${manager.port}/inbox/P01`);
  expect(manager.storedEndpoints()).toEqual({ P01: "inbox://P01" });
  const envelope = { display_name: "Bob", game_types: ["rps.v1"], contact_endpoint: null };
  const { payload } = await manager.message("PLAYER_REGISTER_REQUEST", "player:Bob", envelope);
  expect(payload.inbox).toBe(`http://127.0.0.1:${manager.port}/inbox/P02`);
});

it("an answer in a poll answers the call to the endpoint of the inbox, with the id of that call", async () => {
  const { inbox, token, poll } = await startInbox();
  const called = messageTo(inbox, token, 7);
  const first = await poll();
  expect(first).toMatchObject({ status: 200, body: { ignored: [], next: first.body.requests[0].id } });
  expect(roundOf(first.body.requests[0])).toBe(7);
  const second = await poll([answerTo(first.body.requests[0])], "?wait_s=0");
  expect(second.body).toMatchObject({ requests: [], ignored: [] });
  expect(await called).toEqual({ jsonrpc: "2.0", id: "call-7", result: "done" });
});

it("a poll that waits is answered by a request, and without one after wait_s", async () => {
  const { inbox, token, poll } = await startInbox();
  expect((await poll([], "?wait_s=0.01")).body).toEqual({ next: 0, requests: [], ignored: [] });
  const waiting = poll();
  void messageTo(inbox, token).catch(() => {});
  expect((await waiting).body.requests).toHaveLength(1);
});

it("a client with after=0 receives open requests again, and answers one only once", async () => {
  const { inbox, token, poll } = await startInbox();
  const calls = [messageTo(inbox, token, 1), messageTo(inbox, token, 2)];
  const both = await vi.waitFor(async () => {
    const polled = await poll([], "?after=0");
    expect(polled.body.requests).toHaveLength(2);
    return polled.body;
  }, WAIT_OPTIONS);
  expect((await poll([], `?after=${both.next}&wait_s=0`)).body.requests).toEqual([]);
  const [first, second] = both.requests;
  const answered = await poll([answerTo(first, "a"), answerTo(first, "b"), answerTo(second)], "?wait_s=0");
  expect(answered.body).toMatchObject({ ignored: [first.id], requests: [] });
  expect((await Promise.all(calls)).map(({ result }) => result).sort()).toEqual(["a", "done"]);
  expect((await poll([answerTo(first)], "?wait_s=0")).body.ignored).toEqual([first.id]);
});

it("of two polls the older one ends with 409", async () => {
  const { inbox, token, poll } = await startInbox();
  const older = poll();
  await vi.waitFor(async () => expect((await poll([], "?wait_s=0")).status).toBe(200), WAIT_OPTIONS);
  expect(await older).toMatchObject({ status: 409, body: { error: { code: "CONFLICT" } } });
  const newer = poll();
  void messageTo(inbox, token).catch(() => {});
  expect((await newer).status).toBe(200);
});

it("a poll needs the token of its player", async () => {
  const { manager, poll } = await startInbox();
  const other = await manager.tool("register_player", { player_name: "Bob" });
  for (const bearer of ["wrong", other.auth_token, manager.operator]) {
    expect(await poll([], "?wait_s=0", bearer)).toMatchObject({
      status: 401,
      body: { error: { code: "UNAUTHORIZED" } },
    });
  }
});

it("a player with an endpoint has no inbox", async () => {
  const { manager, inbox } = await startInbox();
  await manager.register("P02");
  const response = await fetch(inbox.replace("P01", "P02"), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${manager.tokens.P02}` },
    body: "[]",
  });
  expect(response.status).toBe(404);
});

it("rejects wrong numbers and bodies with a text that names the rule", async () => {
  const { poll } = await startInbox();
  for (const query of ["?after=x", "?after=-1", "?after=1.5", "?wait_s=61", "?wait_s=-1"]) {
    expect(await poll([], query), query).toMatchObject({ status: 400, body: { error: { code: "INVALID_REQUEST" } } });
  }
  expect((await poll({}, "?wait_s=0")).body.error.message).toMatch(/JSON array of JSON-RPC responses/);
});

it("accepts only messages that are signed for the player, and only single calls", async () => {
  const { inbox, token, poll } = await startInbox();
  const strange = await messageTo(inbox, "another token");
  expect(strange.error.message).toMatch(/^L004: the message is not signed/);
  expect((await messageTo(inbox.replace("P01", "P77"), token)).error.message).toMatch(/L004/);
  const body = "[]";
  const batch = await fetch(`${inbox}/mcp`, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(batch.status).toBe(400);
  expect((await poll([], "?wait_s=0")).body.requests).toEqual([]);
});

it("a request leaves the inbox when its sender has gone", async () => {
  const { inbox, token, poll } = await startInbox();
  const sender = new AbortController();
  const called = messageTo(inbox, token, 1, sender.signal).catch(() => "gone");
  expect((await poll()).body.requests).toHaveLength(1);
  sender.abort();
  expect(await called).toBe("gone");
  await vi.waitFor(async () => expect((await poll([], "?after=0&wait_s=0")).body.requests).toEqual([]), WAIT_OPTIONS);
});

it("a request waits for the next poll after the client of a poll has gone", async () => {
  const { inbox, token, poll } = await startInbox();
  const client = new AbortController();
  const waiting = poll([], "?wait_s=20", token, client.signal).catch(() => "gone");
  client.abort();
  expect(await waiting).toBe("gone");
  void messageTo(inbox, token, 3).catch(() => {});
  expect(roundOf((await poll()).body.requests[0])).toBe(3);
});

it("the connection of a request is closed without an answer when the inbox is full", async () => {
  const { inbox, token, poll } = await startInbox();
  const calls = Array.from({ length: 64 }, (_, index) => messageTo(inbox, token, index).catch(() => {}));
  await vi.waitFor(
    async () => expect((await poll([], "?after=0&wait_s=0")).body.requests).toHaveLength(64),
    WAIT_OPTIONS,
  );
  await expect(messageTo(inbox, token, 99)).rejects.toThrow("fetch failed");
  const { requests } = (await poll([], "?after=0&wait_s=0")).body;
  await poll(
    requests.map((request: Wire) => answerTo(request)),
    "?wait_s=0",
  );
  await Promise.all(calls);
});

it("a new token ends the poll with the old one", async () => {
  const { manager, poll } = await startInbox();
  const waiting = poll([], "?wait_s=20").catch((thrown) => thrown.message);
  await vi.waitFor(() => manager.tool("reset_token", { player_id: "P01" }, manager.operator), WAIT_OPTIONS);
  expect(await waiting).toBe("fetch failed");
  expect((await poll([], "?wait_s=0")).status).toBe(401);
});

it("requests to a player are refused 30 s after its last poll, and accepted again with its next poll", async () => {
  const clock = manualClock();
  const inboxes = new Inboxes(clock, 0);
  const signal = new AbortController().signal;
  const request = { method: "tools/call", params: {} };
  await inboxes.poll("P01", { after: 0, waitMs: 0, signal });
  await clock.advance(30_000);
  expect(await inboxes.ask("P01", request, signal)).toEqual({ kind: "refused" });
  expect(inboxes.isAttended("P01")).toBe(false);
  const polled = inboxes.poll("P01", { after: 0, waitMs: 25_000, signal });
  expect(inboxes.isAttended("P01")).toBe(true);
  const asked = inboxes.ask("P01", request, signal);
  expect(await polled).toMatchObject({ next: 1 });
  inboxes.answer("P01", [{ id: 1, result: "x" }]);
  expect(await asked).toMatchObject({ kind: "answered", answer: { result: "x" } });
});

it("a manager that stops closes the connections of polls, so that their clients repeat them", async () => {
  const { manager, poll } = await startInbox();
  const waiting = poll([], "?wait_s=20").catch((thrown) => thrown.message);
  await vi.waitFor(async () => expect((await poll([], "?wait_s=0")).status).toBe(200), WAIT_OPTIONS);
  const next = poll([], "?wait_s=20").catch((thrown) => thrown.message);
  expect(await waiting).toMatchObject({ status: 409 });
  await manager.stop();
  expect(await next).toBe("fetch failed");
});

it("a call through a reverse proxy reaches the player after the manager was down", async () => {
  const { manager, token, poll } = await startInbox();
  const proxy = await startReverseProxy(1);
  const peers = createPeers({ clock: systemClock });
  onTestFinished(() => peers.close());
  const authToken = signFor(sha256Hex(token), "rps");
  const round = newEnvelope("ROUND_START", "referee:REF01", { league_id: "rps", round_id: 4 }, { authToken });
  const failed = proxy.nextFailure();
  const called = peers.message(`${proxy.url}/inbox/P01/mcp`, round, { retry: true, timeoutMs: 20_000 });
  await failed;
  proxy.forwardTo(manager.port);
  const { requests } = (await poll()).body;
  const ack = newEnvelope("ACK", "player:P01", {});
  await poll([answerTo(requests[0], { structuredContent: ack })], "?wait_s=0");
  expect(await called).toEqual({ ok: true, value: ack });
});
