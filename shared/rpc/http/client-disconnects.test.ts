import { once } from "node:events";
import { request as httpRequest, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { rpcRequest } from "../testing/json-rpc.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { httpEndpoint } from "./http-server.ts";
import { disconnectSignal } from "./request.ts";

test("the signal is aborted for a caller that disconnects before or after the signal is created", async () => {
  const signals: AbortSignal[] = [];
  const server = httpEndpoint({
    handler: () => new Promise(() => {}),
    web: () => Promise.reject(new Error("no pages here")),
    bodyLimit: () => 1_000,
    allowedHosts: [],
  });
  const port = await listenOnLoopback(server);
  const headers = { "content-type": "application/json" };
  const request = httpRequest({ port, method: "POST", path: "/mcp", headers });
  request.on("error", () => {}); // the test destroys the request
  request.end("{}");
  const [, response] = await once(server, "request");
  signals.push(disconnectSignal(response));
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  request.destroy();
  await once(response, "close");
  signals.push(disconnectSignal(response));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  ["an application/json answer", "application/json"],
  ["an answer through the MCP SDK", "application/json, text/event-stream"],
])("the calls of a batch share one signal and one listener in %s", async (_, accept) => {
  const calls = 11;
  const descriptor = {
    title: "T",
    description: "D",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
  };
  const listeners = new Set<number>();
  const responses: ServerResponse[] = [];
  const call = async (_args: unknown, { abortSignal }: HttpContext) => {
    abortSignal?.();
    for (const response of responses) listeners.add(response.listenerCount("close"));
    return { content: [] };
  };
  const tool = { ...descriptor, name: "ask", annotations: {}, waits: true, call };
  const serverInfo = { name: "test", version: "1.0.0" };
  const mcp = mcpEndpoint(
    { serverInfo, tools: [tool], resources: [], templates: [] },
    () => {},
    systemClock,
    systemIds,
  );
  const server = httpEndpoint({
    handler: mcp.handler,
    sessions: mcp.sessions,
    web: () => Promise.reject(new Error("no pages here")),
    bodyLimit: () => 64 * 1024,
    allowedHosts: [],
  });
  server.on("request", (_request, response) => responses.push(response));
  const port = await listenOnLoopback(server);
  const params = { name: "ask", arguments: {} };
  const batch = Array.from({ length: calls }, (_, id) => rpcRequest("tools/call", params, id));
  const headers = { "content-type": "application/json", accept };
  const reply = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers, body: JSON.stringify(batch) });
  expect((await reply.text()).match(/"content":\[\]/g)).toHaveLength(calls);
  expect(listeners.size).toBe(1);
  await mcp.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
