import { request } from "node:http";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { rpcRequest, rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { clients } from "#shared/rpc/testing/mcp-clients.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { createGame, gauge, play, type TestSeat, tool, twoSeats, type Wire } from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const waiting = (count: number, at = host) =>
  vi.waitFor(async () => expect(await gauge(at, "host_waiting_calls")).toBe(count), { ...WAIT_OPTIONS, interval: 5 });

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
/** An official client that receives progress and can cancel calls. */
interface Caller {
  call(
    name: string,
    args: object,
    options: { onprogress?: (p: Progress) => void; signal?: AbortSignal },
  ): Promise<Wire>;
  close(): Promise<void>;
}
const ABOUT = { name: "test", version: "1.0.0" };
const modern = async (mode: { pin: string } | "legacy"): Promise<Caller> => {
  const client = new ModernClient(ABOUT, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(new URL(`${host.url}/mcp`)));
  return {
    call: (name, args, options) => client.callTool({ name, arguments: { ...args } }, options),
    close: () => client.close(),
  };
};
const callers: Readonly<Record<string, () => Promise<Caller>>> = {
  "SDK 1, 2025-11-25": async () => {
    const client = new Client(ABOUT);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}/mcp`)) as never);
    return {
      call: (name, args, options) => client.callTool({ name, arguments: { ...args } }, undefined, options),
      close: () => client.close(),
    };
  },
  "SDK 2, 2025-11-25": () => modern("legacy"),
  "SDK 2, 2026-07-28": () => modern({ pin: "2026-07-28" }),
};

describe("waitForNextTurn", () => {
  let white: TestSeat;
  let black: TestSeat;
  beforeEach(async () => {
    [white, black] = await twoSeats(host, "chess");
  });

  it("answers immediately at the turn of the caller, and otherwise after the move of the opponent", async () => {
    const now = (await white.wait({ timeout_s: 30 })).value;
    expect(now).toMatchObject({ next: "your_turn", timed_out: false, tick: 0 });
    const waited = black.wait({ timeout_s: 30 });
    await waiting(1);
    await white.move("e4");
    const value = (await waited).value;
    expect(value).toMatchObject({ next: "your_turn", timed_out: false, tick: 1, last_action: { action: "e2e4" } });
    await waiting(0);
  });

  it("answers a timeout with a text that asks the model to call again", async () => {
    for (const timeout_s of [0, 0.05]) {
      const answer = await black.wait({ timeout_s });
      expect(answer.value).toMatchObject({ next: "waiting_for_opponent", timed_out: true, legal_actions: [] });
      expect(answer.text).toMatch(
        /^Timeout: nothing has happened for .* This is normal, .* call waitForNextTurn again/,
      );
      expect(answer.text).toContain("a b c d e f g h");
    }
  });

  it("waits 0 to 30 seconds", async () => {
    for (const timeout_s of [-1, 30.1, 1e9, "five"]) {
      const answer = await black.wait({ timeout_s });
      expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("timeout_s")]);
    }
    const { tools } = (await mcp("tools/list", {})).result;
    const wait = tools.find(({ name }: { name: string }) => name === "waitForNextTurn");
    expect(wait.inputSchema.properties.timeout_s).toMatchObject({ minimum: 0, maximum: 30, default: 25 });
  });

  it("has a description that explains timeouts", async () => {
    const { tools } = (await mcp("tools/list", {})).result;
    const { description } = tools.find(({ name }: { name: string }) => name === "waitForNextTurn");
    expect(description).toContain("A timeout is normal: call this tool again immediately.");
  });

  it("answers all waiting calls when the game expires", async () => {
    const short = await startTestHost({ expireAfterMs: 1_000 });
    const [one, two] = await twoSeats(short, "rps");
    await one.move("rock");
    const both = await Promise.all([one.wait({ timeout_s: 30 }), one.wait({ timeout_s: 30 })]);
    for (const { value } of both)
      expect(value).toMatchObject({ next: "game_over", result: { termination: "expired" } });
    expect((await two.wait()).value.state.choices).toEqual({ player_1: null, player_2: null });
    await short.remove();
  });

  it("answers both sides when a simultaneous turn is closed", async () => {
    const [one, two] = await twoSeats(host, "rps", { options: { best_of: 3 } });
    for (const seat of [one, two]) expect((await seat.wait()).value.next).toBe("your_turn");
    await one.move("rock");
    const waited = one.wait({ timeout_s: 30 });
    await waiting(1);
    await two.move("rock");
    expect((await waited).value).toMatchObject({ next: "your_turn", tick: 2 });
    expect((await two.wait()).value.state.series.previous_rounds).toHaveLength(1);
  });

  it("returns a board page with showUi, in the view of the person if a person plays", async () => {
    const answer = await white.wait({ showUi: true });
    expect(answer.content.map(({ type }) => type)).toEqual(["text", "resource"]);
    expect(answer.content[1].resource).toMatchObject({
      uri: `ui://agent-league/game/${white.gameId}`,
      mimeType: "text/html",
      text: expect.stringMatching(/^<!doctype html>/i),
    });
    expect(answer.raw).not.toContain(white.token);
    const agent = await createGame(host, { template: "chess", opponent: "human", play_as: "black" });
    const shown = await agent.wait({ showUi: true });
    expect(shown.meta["agent-league/user_seat"].view).toMatchObject({ your_role: "white", to_act: ["white"] });
  });
});

describe("a wait whose caller has disconnected", () => {
  it("ends when its HTTP connection breaks", async () => {
    const [, black] = await twoSeats(host, "chess");
    const calls = [1, 2, 3].map(() => new AbortController());
    const args = { game_id: black.gameId, seat_token: black.token };
    const broken = calls.map(({ signal }) => tool(host, "waitForNextTurn", args, { signal }));
    await waiting(3);
    for (const call of calls) call.abort();
    for (const call of broken) await expect(call).rejects.toThrow();
    await waiting(0);
  });

  it("is not started if the connection breaks after the request", async () => {
    const [, black] = await twoSeats(host, "chess");
    const args = { game_id: black.gameId, seat_token: black.token };
    const body = JSON.stringify(rpcToolCall("waitForNextTurn", args));
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(`${host.url}/mcp`, { method: "POST", headers });
    sent.on("error", () => {});
    await new Promise<void>((resolve) => sent.end(body, () => resolve()));
    sent.destroy();
    await waiting(0);
    // The host continues to serve this game, without a waiting call.
    expect((await black.wait({ timeout_s: 0 })).isError).toBe(false);
    await waiting(0);
  });
});

describe.each(Object.entries(callers))("a client of %s", (_, connect) => {
  it("receives progress on request, can cancel a wait and can disconnect", async () => {
    const [white, black] = await twoSeats(host, "chess");
    const args = { game_id: black.gameId, seat_token: black.token, timeout_s: 30 };
    const client = await connect();
    const firstProgress = Promise.withResolvers<Progress>();
    const waited = client.call("waitForNextTurn", args, { onprogress: firstProgress.resolve });
    const { progress, total, message } = await firstProgress.promise;
    expect({ progress: Math.floor(progress), total, message }).toEqual({
      progress: 0,
      total: 30,
      message: `waiting in ${black.gameId}`,
    });
    await waiting(1);
    await white.move("e4");
    expect((await waited).structuredContent).toMatchObject({ next: "your_turn", tick: 1 });
    await black.move("e5");

    const cancel = new AbortController();
    const cancelled = client.call("waitForNextTurn", args, { signal: cancel.signal });
    await waiting(1);
    cancel.abort("enough");
    await expect(cancelled).rejects.toThrow();
    await waiting(0);

    const disconnecting = client.call("waitForNextTurn", args, {}).catch(() => "disconnected");
    await waiting(1);
    await client.close();
    expect(await disconnecting).toBe("disconnected");
    await waiting(0);
  });
});

describe.each(Object.keys(clients))("an official MCP client at %s", (revision) => {
  it("plays a game to its end, with results that match their schemas", async () => {
    const connected = clients[revision]?.(`${host.url}/mcp`);
    if (!connected) throw new Error("no client");
    const client = await connected;
    const call = async (name: string, args: object): Promise<Wire> => client.call(name, args);
    const { structuredContent: made } = await call("createGame", { template: "rps", opponent: "agent" });
    const { game_id, seat_token } = made;
    const { structuredContent: joined } = await call("joinGame", { game_id });
    expect(joined.your_role).toBe("player_2");
    await call("finishTurn", { game_id, seat_token, move: "Rock" });
    await call("finishTurn", { game_id, seat_token: joined.seat_token, move: "paper" });
    const over = await call("waitForNextTurn", { game_id, seat_token, showUi: true });
    expect(over.structuredContent.result).toMatchObject({ winner: "player_2" });
    expect(over.content.map(({ type }: Wire) => type)).toEqual(["text", "resource"]);
    expect(await call("finishTurn", { game_id, seat_token, move: "rock" })).toMatchObject({
      isError: true,
      content: [{ text: "The game is over: rounds_won" }],
    });
    await client.close();
  });
});

it("a host that stops answers its waiting calls", async () => {
  host = await restarted(host);
  const seats = await twoSeats(host, "chess");
  const [white, black] = seats;
  const args = { game_id: black.gameId, seat_token: black.token, timeout_s: 30 };
  const bare = black.wait({ timeout_s: 30 });
  const connected = await Promise.all(Object.values(callers).map((connect) => connect()));
  const calls = connected.map((client) => client.call("waitForNextTurn", args, {}));
  await waiting(4);
  await host.stop();
  expect((await bare).value).toMatchObject({ next: "waiting_for_opponent", timed_out: true });
  for (const call of calls) expect((await call).structuredContent).toMatchObject({ next: "waiting_for_opponent" });
  await Promise.all(connected.map((client) => client.close()));
  host = await startTestHost({ port: host.port, dataFolder: host.dataFolder });
  await play([white, black], ["e4", "e5"]);
});

const restarted = async ({ port, dataFolder, stop }: TestHost): Promise<TestHost> => {
  await stop();
  return startTestHost({ port, dataFolder });
};

async function mcp(method: string, params: object): Promise<Wire> {
  const body = JSON.stringify(rpcRequest(method, params));
  return (await host.call("POST", "/mcp", { headers: { "content-type": "application/json" }, body })).json;
}
