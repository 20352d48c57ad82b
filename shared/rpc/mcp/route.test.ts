import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { rpcRequest } from "../testing/json-rpc.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { STATELESS } from "../testing/stdio.ts";
import { serviceOf } from "./mcp-endpoint.ts";
import type { Tool } from "./methods.ts";
import { routeOf } from "./route.ts";
import { type McpSessions, mcpSessions } from "./sessions.ts";

const about = { title: "T", description: "D", inputSchema: { type: "object" }, outputSchema: { type: "object" } };
const tool = (name: string, waits = false): Tool => ({
  ...about,
  name,
  waits,
  annotations: {},
  call: async () => ({ content: [] }),
});
const surface = {
  serverInfo: { name: "test", version: "1" },
  resources: [],
  templates: [],
  tools: [tool("echo"), tool("wait", true), tool("league_message")],
};

let server: Server;
let url: string;
let clients: McpSessions;
/** Whether the request has loaded the SDK. */
let hasLoaded = false;
beforeAll(async () => {
  clients = mcpSessions(serviceOf(surface, "k".repeat(43)), () => {}, systemClock, systemIds);
  const load = async (): Promise<McpSessions> => {
    hasLoaded = true;
    return clients;
  };
  server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    response.end((await routeOf(request, Buffer.concat(chunks).toString(), load)).to);
  });
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
});
afterAll(async () => {
  server.close();
  await clients.close();
});

const JSON_ONLY = { accept: "application/json" };
const BOTH = { accept: "application/json, text/event-stream" };
const EVENTS = { accept: "text/event-stream" };
const IN_SESSION = { "mcp-session-id": "s" };
const OLD = { ...BOTH, "mcp-protocol-version": "2025-11-25" };
const named = (name: string) => ({ "mcp-method": "tools/call", "mcp-name": name });
const NEW = { ...BOTH, "mcp-protocol-version": "2026-07-28" };

const call = (name: string, more: object = {}) => rpcRequest("tools/call", { name, arguments: {}, ...more });
const initialize = rpcRequest("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});

it.each<[request: string, method: string, headers: Record<string, string>, body: unknown, route: string]>([
  ["any method of a caller that accepts JSON", "POST", JSON_ONLY, rpcRequest("tools/list"), "plain"],
  ["a caller that accepts event streams only", "POST", EVENTS, call("echo"), "plain"],
  ["initialize without a stream", "POST", JSON_ONLY, initialize, "plain"],
  ["a league message", "POST", JSON_ONLY, call("league_message"), "plain"],
  ["a league message of a bot that accepts both", "POST", BOTH, call("league_message"), "plain"],
  ["a league message of an MCP client", "POST", OLD, call("league_message"), "direct"],
  ["a batch", "POST", JSON_ONLY, [rpcRequest("ping"), rpcRequest("ping")], "plain"],
  ["no JSON", "POST", BOTH, undefined, "plain"],
  ["no JSON in a session", "POST", IN_SESSION, undefined, "plain"],
  ["a message in a session", "POST", IN_SESSION, call("echo"), "session"],
  ["a league message in a session", "POST", { ...BOTH, ...IN_SESSION }, call("league_message"), "session"],
  ["the stream of a session", "GET", { ...EVENTS, ...IN_SESSION }, undefined, "session"],
  ["the end of a session", "DELETE", IN_SESSION, undefined, "session"],
  ["a stream without a session", "GET", EVENTS, undefined, "no session"],
  ["initialize of an MCP client", "POST", BOTH, initialize, "new session"],
  ["initialize in a batch", "POST", BOTH, [initialize], "new session"],
  ["a batch of an MCP client", "POST", OLD, [rpcRequest("ping")], "no session"],
  ["a list outside of a session", "POST", OLD, rpcRequest("tools/list"), "no session"],
  ["a tool that answers without waiting", "POST", BOTH, call("echo"), "direct"],
  ["a tool that waits", "POST", OLD, call("wait"), "no session"],
  ["a tool with a progress token", "POST", OLD, call("echo", { _meta: { progressToken: 1 } }), "no session"],
  [
    "2026-07-28: a list",
    "POST",
    { ...NEW, "mcp-method": "tools/list" },
    rpcRequest("tools/list", STATELESS),
    "stateless",
  ],
  ["2026-07-28: a tool at once", "POST", { ...NEW, ...named("echo") }, call("echo", STATELESS), "direct"],
  ["2026-07-28: a tool that waits", "POST", { ...NEW, ...named("wait") }, call("wait", STATELESS), "stateless"],
  [
    "2026-07-28: headers that name another tool",
    "POST",
    { ...NEW, ...named("x") },
    call("echo", STATELESS),
    "stateless",
  ],
])("%s (%s)", async (_request, method, headers, body, route) => {
  hasLoaded = false;
  const text = body === undefined ? "{" : JSON.stringify(body);
  const response = await fetch(url, {
    method,
    headers,
    ...(method === "POST" && { body: text }),
  });
  expect(await response.text()).toBe(route);
  expect(hasLoaded).toBe(route !== "plain" && route !== "session");
});
