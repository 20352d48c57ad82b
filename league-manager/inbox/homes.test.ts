import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { serveTools } from "#shared/rpc/testing/loopback.ts";
import { inboxEndpoint } from "../agents/registered-agent.ts";
import type { Home } from "../cluster/other-managers.ts";
import { inboxRoutes, inboxSocket, playerAt } from "./inbox-routes.ts";
import { Inboxes } from "./inboxes.ts";
import { withInboxes } from "./manager-inboxes.ts";

/** The interfaces of the inbox of P01, which has another home after `moveTo`. */
function startInbox() {
  let home: Home = "here";
  const inboxes = new Inboxes(systemClock, 0.5);
  onTestFinished(() => inboxes.close());
  const homes = { of: () => home, onChange: () => () => {} };
  const projections = {
    agent: () => ({ endpoint: inboxEndpoint("P01", false), tokenHash: sha256Hex("T") }),
    authenticate: (token: string | null) => (token === "T" ? { id: "P01" } : null),
  };
  const context = { inboxes, homes, projections, catchUp: async () => true };
  const { handler } = inboxRoutes(context);
  const upgrade = inboxSocket(context);
  const http = { bearer: "T", remoteAddress: "127.0.0.1" };
  return {
    inboxes,
    homes,
    moveTo(next: Home) {
      home = next;
      inboxes.keepOnly(() => home === "here");
    },
    poll: (waitS = 0) => handler("[]", { ...http, target: `/inbox/P01?wait_s=${waitS}` }),
    attended: (more: Partial<HttpContext> = {}) => handler("", { ...http, ...more, target: "/inbox/P01/attended" }),
    upgrade: () => upgrade({ path: "/inbox/P01", query: new URLSearchParams(), http }),
  };
}

const refused = { status: 503, isRefused: true };

it("an inbox that moves to another manager ends its poll and refuses requests", async () => {
  const { moveTo, poll, upgrade } = startInbox();
  expect(await poll()).toMatchObject({ status: 200 });
  expect(await upgrade()).toHaveProperty("accept");
  const waiting = poll(30);
  moveTo("unknown");
  expect(await waiting).toMatchObject(refused);
  expect(await poll()).toMatchObject(refused);
  expect(await upgrade()).toMatchObject({ status: 503 });
});

it("only another manager can ask whether a player polls its inbox", async () => {
  const { attended, poll } = startInbox();
  expect(await attended({ isPassedOn: true })).toMatchObject({ status: 503 });
  await poll();
  expect(await attended({ isPassedOn: true })).toMatchObject({ status: 200 });
  expect(await attended()).toMatchObject({ status: 404 });
  expect(["/inbox/P01", "/inbox/P01/mcp", "/inbox/P01/attended"].map(playerAt)).toEqual(["P01", "P01", null]);
});

it("messages to a player whose inbox is at another manager are sent there", async () => {
  const { inboxes, homes, moveTo } = startInbox();
  const peers = createPeers({ clock: systemClock });
  const received: unknown[] = [];
  const other = await serveTools(({ args }) => received.push(args));
  onTestFinished(() => {
    other.close();
    return peers.close();
  });
  const client = withInboxes(peers, inboxes, homes, systemClock);
  const envelope = newEnvelope("ROUND_START", "league_manager:LM01", { league_id: "rps", round_id: 1 });
  const notify = () => client.notify(inboxEndpoint("P01", false), envelope, { timeoutMs: 5_000 });
  moveTo("unknown");
  expect(await notify()).toMatchObject({ ok: false, error: { cause: "refused" } });
  expect(await client.probe("inbox://P01", 1_000)).toBe("silent");
  let isPolled = true;
  moveTo({ inboxEndpoint: other.url, isAttended: async () => isPolled, ask: async () => null });
  expect(await notify()).toEqual({ ok: true, value: null });
  expect(received).toEqual([envelope]);
  expect(await client.probe("inbox://P01", 1_000)).toBe("alive");
  isPolled = false;
  expect(await client.isListening("inbox://P01", 1_000)).toBe(false);
});

it("a message that the player has answered leaves no timer", async () => {
  const clock = manualClock();
  const inboxes = new Inboxes(clock, 0.5);
  const peers = createPeers({ clock });
  const client = withInboxes(peers, inboxes, { of: () => "here", onChange: () => () => {} }, clock);
  const envelope = newEnvelope("ROUND_START", "league_manager:LM01", { league_id: "rps", round_id: 1 });
  const timersBefore = clock.timers();
  const notified = client.notify(inboxEndpoint("P01", false), envelope, { timeoutMs: 5_000 });
  const { signal } = new AbortController();
  const page = await inboxes.poll("P01", { after: 0, waitMs: 1_000, signal });
  const requests = typeof page === "object" ? page.requests : [];
  inboxes.answer(
    "P01",
    requests.map((text) => ({ id: JSON.parse(text).id, result: {} })),
  );
  expect(await notified).toEqual({ ok: true, value: null });
  expect(clock.timers()).toBe(timersBefore);
  await peers.close();
});

it("an inbox that comes back from another manager does not use the number of an earlier request again", async () => {
  const inboxes = new Inboxes(systemClock, 0.5);
  const { signal } = new AbortController();
  const ask = async (): Promise<number> => {
    const page = inboxes.poll("P01", { after: 0, waitMs: 1_000, signal });
    void inboxes.ask("P01", { method: "tools/call", params: {} }, signal);
    const polled = await page;
    return typeof polled === "object" ? JSON.parse(polled.requests[0] ?? "{}").id : 0;
  };
  const first = await ask();
  inboxes.keepOnly(() => false);
  expect(await ask()).toBe(first + 1);
  inboxes.close();
});

it("a player is attended while a poll waits and for 30 s after its end", async () => {
  const clock = manualClock();
  const inboxes = new Inboxes(clock, 0.5);
  const { signal } = new AbortController();
  const polled = inboxes.poll("P01", { after: 0, waitMs: 60_000, signal });
  await clock.advance(59_000);
  expect(inboxes.isAttended("P01")).toBe(true);
  await clock.advance(1_000);
  expect(await polled).toMatchObject({ requests: [] });
  await clock.advance(29_000);
  expect(inboxes.isAttended("P01")).toBe(true);
  await clock.advance(2_000);
  expect(inboxes.isAttended("P01")).toBe(false);
});

it("a message that the player does not answer ends at its time limit, also if its caller can cancel it", async () => {
  const clock = manualClock();
  const inboxes = new Inboxes(clock, 0.5);
  const peers = createPeers({ clock });
  const client = withInboxes(peers, inboxes, { of: () => "here", onChange: () => () => {} }, clock);
  const envelope = newEnvelope("ROUND_START", "league_manager:LM01", { league_id: "rps", round_id: 1 });
  const { signal } = new AbortController();
  await inboxes.poll("P01", { after: 0, waitMs: 0, signal });
  const notified = client.notify(inboxEndpoint("P01", false), envelope, { timeoutMs: 5_000, signal });
  await clock.advance(5_000);
  expect(await notified).toMatchObject({ ok: false, error: { cause: "timeout" } });
  await peers.close();
});
