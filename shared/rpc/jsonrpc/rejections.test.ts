import type { Server } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { type McpEndpoint, mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { err, ok } from "../../lib/result.ts";
import { protocolError } from "../../protocol/errors.ts";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { operation, toolsOf } from "../mcp/operations.ts";
import { rpcRequest } from "../testing/json-rpc.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { STATELESS } from "../testing/stdio.ts";
import type { RejectedRequest } from "./rejection-log.ts";

const player_id = z.string();
const operations = [
  operation({
    request: "REMOVE_PLAYER",
    reply: "ACK",
    payload: z.object({ player_id }),
    tool: {
      name: "remove_player",
      title: "T",
      description: "D",
      annotations: {},
      plain: z.object({ player_id }),
      result: z.object({}),
    },
    handle: () => err(protocolError("L004", "only the operator may")),
  }),
  operation({
    request: "PLAYER_REGISTER_REQUEST",
    reply: "PLAYER_REGISTER_RESPONSE",
    payload: z.object({}),
    handle: () => ok({ status: "REJECTED", error_code: "L003", reason: "the name is taken" }),
  }),
];

const rejections: RejectedRequest[] = [];
let mcp: McpEndpoint;
let server: Server;
let url: string;
beforeAll(async () => {
  const tools = toolsOf(operations, () => "league_manager:LM01", systemClock, systemIds);
  const surface = { serverInfo: { name: "test", version: "1.0.0" }, tools, resources: [], templates: [] };
  mcp = mcpEndpoint(
    surface,
    (error) => {
      throw error;
    },
    systemClock,
    systemIds,
  );
  server = httpEndpoint({
    handler: mcp.handler,
    sessions: mcp.sessions,
    web: () => Promise.reject(),
    bodyLimit: () => 64 * 1024,
    allowedHosts: [],
    rejections: { write: (_, rejection) => rejections.push(rejection) },
  });
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
});
beforeEach(() => {
  rejections.length = 0;
});
afterAll(async () => {
  await mcp.close();
  server.close().closeAllConnections();
});

/** The Accept headers of the two kinds of callers: plain JSON-RPC, and MCP clients. */
const ACCEPT_HEADERS = ["application/json", "application/json, text/event-stream"];
const post = async (accept: string, body: string, extraHeaders: Record<string, string> = {}): Promise<void> => {
  const headers = { "content-type": "application/json", accept, ...extraHeaders };
  await (await fetch(url, { method: "POST", headers, body })).text();
};
const call = (accept: string, method: string, params?: object) =>
  post(accept, JSON.stringify(rpcRequest(method, params)));

test.each(ACCEPT_HEADERS)(
  "a rejected call is logged once with its code, reason and request, for a caller that accepts %s",
  async (accept) => {
    await call(accept, "tools/call", { name: "remove_player", arguments: { player_id: "P01", auth_token: "x" } });
    await call(accept, "tools/call", { name: "remove_player", arguments: {} });
    await call(accept, "tools/call", { name: "nothing" });
    await call(accept, "resources/read", { uri: "test://nothing" });
    await call(accept, "nothing/at/all");
    expect(rejections).toMatchObject([
      { code: "L004", reason: "only the operator may", request: "remove_player" },
      { code: -32602, reason: expect.stringContaining("player_id: "), request: "tools/call remove_player" },
      { code: -32602, reason: "Unknown tool: nothing" },
      { code: -32602, reason: "Unknown resource: test://nothing", request: "resources/read" },
      { code: -32601, reason: "Method not found", request: "nothing/at/all" },
    ]);
    expect(rejections).toHaveLength(5);
  },
);

test.each(ACCEPT_HEADERS)(
  "a rejected envelope is logged with its sender, for a caller that accepts %s",
  async (accept) => {
    const sendEnvelope = (type: "REMOVE_PLAYER" | "PLAYER_REGISTER_REQUEST" | "GAME_INVITE", payload: object) =>
      call(accept, "tools/call", { name: "league_message", arguments: newEnvelope(type, "player:P01", payload) });
    await sendEnvelope("REMOVE_PLAYER", { player_id: "P02" });
    await sendEnvelope("PLAYER_REGISTER_REQUEST", {});
    await sendEnvelope("GAME_INVITE", {});
    expect(rejections).toEqual([
      { code: "L004", reason: "only the operator may", agent: "player:P01", request: "REMOVE_PLAYER" },
      { code: "L003", reason: "the name is taken", agent: "player:P01", request: "PLAYER_REGISTER_REQUEST" },
      {
        code: -32602,
        reason: expect.stringContaining("GAME_INVITE"),
        agent: "player:P01",
        request: "tools/call league_message GAME_INVITE",
      },
    ]);
  },
);

const SDK = "application/json, text/event-stream";

/** Opens an MCP session. Resolves with the headers of its later requests. */
async function openSession(): Promise<Record<string, string>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const body = JSON.stringify(rpcRequest("initialize", params, 0));
  const headers = { accept: SDK, "content-type": "application/json" };
  const opened = await fetch(url, { method: "POST", headers, body });
  await opened.text();
  return { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
}

test("a rejected subscription is logged", async () => {
  const session = await openSession();
  const subscription = rpcRequest("resources/subscribe", { uri: "test://nothing" });
  await post(SDK, JSON.stringify(subscription), session);
  const reason = expect.stringMatching(/^Unknown resource: test:/);
  expect(rejections).toEqual([{ code: -32602, reason, request: "resources/subscribe" }]);
});

test.each<[string, object, string]>([
  ["initialize", { protocolVersion: 5 }, "Invalid params: protocolVersion: must be text, not 5"],
  ["tools/call", { name: 5 }, "Invalid params: name: must be text, not 5"],
  ["tools/call", { name: "remove_player", arguments: 5 }, "Invalid params: arguments: must be an object, not 5"],
  ["resources/subscribe", {}, "Invalid params for resources/subscribe: uri: is missing"],
  ["resources/unsubscribe", {}, "Invalid params for resources/unsubscribe: uri: is missing"],
])(
  "%s with %j, whose params the schemas of the SDK reject, is logged once with and without a session",
  async (method, params, text) => {
    const body = JSON.stringify(rpcRequest(method, params));
    const reason = expect.stringContaining(text);
    for (const session of [await openSession(), {}]) {
      rejections.length = 0;
      await post(SDK, body, session);
      expect(rejections).toEqual([{ code: -32602, reason, request: method }]);
    }
  },
);

test("a call of revision 2026-07-28 whose params the schemas of the SDK reject is logged once", async () => {
  const params = { ...STATELESS, name: 5 };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "5" };
  await post(SDK, JSON.stringify(rpcRequest("tools/call", params)), headers);
  const reason = "Invalid params: name: must be text, not 5";
  expect(rejections).toEqual([{ code: -32602, reason, request: "tools/call" }]);
});

test("a body that is not a request and an unknown session are logged", async () => {
  await post("application/json", "not JSON");
  await post("application/json", "[]");
  await post("application/json", '{"id": 1}');
  await post("application/json, text/event-stream", '{"jsonrpc":"2.0","id":1,"method":"ping"}', {
    "mcp-session-id": "x",
  });
  expect(rejections.map(({ code }) => code)).toEqual([-32700, -32600, -32600, 404]);
});
