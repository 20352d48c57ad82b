import type { Server } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { rpcRequest } from "../testing/json-rpc.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { STATELESS } from "../testing/stdio.ts";
import { type McpEndpoint, mcpEndpoint } from "./mcp-endpoint.ts";
import type { Tool } from "./methods.ts";

const about = { title: "T", description: "D", inputSchema: { type: "object" }, outputSchema: { type: "object" } };
const tool = (name: string, call: Tool["call"]): Tool => ({ ...about, name, annotations: {}, call });
const tools = [
  tool("whoami", async (_args, { bearer }) => ({ content: [], structuredContent: { bearer } })),
  tool("broken", async () => {
    throw new Error("secret: /srv/league");
  }),
];
/** Subscriptions to numbers below 1,000 are accepted. */
const numbered = {
  uriTemplate: "test://{number}",
  name: "numbered",
  description: "D",
  read: () => null,
  canExist: ({ number = "" }: Record<string, string>) => Number(number) < 1_000,
};
const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1.0.0" },
};

let errors: unknown[];
let mcp: McpEndpoint;
let server: Server;
let url: string;
beforeEach(async () => {
  errors = [];
  const surface = { serverInfo: { name: "test", version: "1.0.0" }, tools, resources: [], templates: [numbered] };
  mcp = mcpEndpoint(surface, (error) => errors.push(error), systemClock, systemIds);
  server = httpEndpoint({
    handler: mcp.handler,
    sessions: mcp.sessions,
    web: () => Promise.reject(),
    bodyLimit: () => 64 * 1024,
    allowedHosts: [],
  });
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
});
afterEach(async () => {
  await mcp.close();
  server.closeAllConnections();
  server.close();
});

async function connect(bearer?: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const requestInit = bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

const STREAM = "application/json, text/event-stream";
const post = (method: string, params: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: STREAM, ...headers },
    body: JSON.stringify(rpcRequest(method, params)),
  });

test("an internal error is passed to onError and not sent to the client", async () => {
  const client = await connect();
  await expect(client.callTool({ name: "broken" })).rejects.toThrow(/-32603.*Internal error/);
  expect(errors).toMatchObject([{ message: "secret: /srv/league" }]);
  await client.close();
});

test("an invalid request is rejected and not passed to onError", async () => {
  const client = await connect();
  await expect(client.callTool({ name: "nothing" })).rejects.toThrow(/-32602.*Unknown tool/);
  await expect(client.readResource({ uri: "test://nothing" })).rejects.toThrow(/Unknown resource/);
  await client.close();
  const stateless = { "mcp-protocol-version": "2026-07-28", "mcp-method": "ping" };
  expect((await post("tools/list", {}, stateless)).status).toBe(400);
  expect(errors).toEqual([]);
});

test.each<[string, unknown]>([
  ["null", null],
  ["an empty text", ""],
  ["the text of a JSON object", "{}"],
])("the arguments of a tool may be %s, with and without a session and in the stateless revision", async (_, args) => {
  const opened = await post("initialize", INITIALIZE);
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const named = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "whoami" };
  for (const headers of [{}, session, { accept: "application/json" }, named]) {
    const params = { name: "whoami", arguments: args, ...("mcp-name" in headers && STATELESS) };
    expect(await (await post("tools/call", params, headers)).text()).toContain('"structuredContent":{"bearer":null}');
  }
});

test.each<[string, object, string]>([
  [
    "initialize",
    { protocolVersion: 3 },
    "protocolVersion: must be text, not 3; capabilities: is missing; clientInfo: is missing",
  ],
  ["tools/call", { name: 3 }, "name: must be text, not 3"],
  ["tools/call", { name: "whoami", arguments: 3 }, "arguments: must be an object, not 3"],
])(
  "a request that violates the schemas of the SDK is rejected in words, not in JSON: %s %j",
  async (method, params, words) => {
    const text = await (await post(method, params, { accept: STREAM })).text();
    const message = JSON.parse(text.slice(text.indexOf("{"))) as object;
    expect(message).toMatchObject({ error: { code: -32602, message: `Invalid params: ${words}` } });
  },
);

test.each(["application/json", "text/event-stream", STREAM, "*/*", ""])(
  "invalid params are rejected with -32602 and named, for callers that accept %j, with and without a session",
  async (accept) => {
    const opened = await post("initialize", INITIALIZE);
    await opened.text();
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    for (const headers of [{ accept }, ...(accept === STREAM ? [session] : [])]) {
      for (const method of ["resources/read", "resources/subscribe"]) {
        const text = await (await post(method, { uri: {} }, headers)).text();
        if (method === "resources/subscribe" && accept !== STREAM) continue; // needs a session
        expect(text, text).toMatch(/"code":-32602/);
        expect(text).toMatch(/uri/);
      }
    }
    expect(errors).toEqual([]);
  },
);

test("a tool receives the bearer token of its caller", async () => {
  const clients = await Promise.all([connect("one"), connect("two"), connect()]);
  const answers = await Promise.all(clients.map((client) => client.callTool({ name: "whoami" })));
  expect(answers.map((answer) => answer.structuredContent)).toEqual([
    { bearer: "one" },
    { bearer: "two" },
    { bearer: null },
  ]);
  await Promise.all(clients.map((client) => client.close()));
});

test("an unknown session is rejected with 404, and a call without a session is answered", async () => {
  expect((await post("tools/list", {}, { "mcp-session-id": "gone" })).status).toBe(404);
  const listed = await post("tools/list", {}, { "mcp-protocol-version": "2025-06-18" });
  expect(await listed.text()).toContain('"whoami"');
});

test("initialize with the id of a session that is not open opens a session", async () => {
  const opened = await post("initialize", INITIALIZE, { "mcp-session-id": "gone" });
  expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('"serverInfo"')]);
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  expect(session).not.toEqual({ "mcp-session-id": "gone" });
  expect((await post("ping", {}, session)).status).toBe(200);
  expect((await post("initialize", INITIALIZE, session)).status).toBe(400);
});

test("DELETE closes a session", async () => {
  const opened = await post("initialize", INITIALIZE);
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  expect((await post("ping", {}, session)).status).toBe(200);
  expect((await fetch(url, { method: "DELETE", headers: session })).status).toBe(200);
  expect((await post("ping", {}, session)).status).toBe(404);
});

const listen = (uris: readonly string[]) =>
  post(
    "subscriptions/listen",
    { ...STATELESS, notifications: { resourceSubscriptions: uris } },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
  );

describe("a subscription to a resource that cannot exist is rejected", () => {
  const UNKNOWN = ["test://1000", "other://7"];

  test("in a session", async () => {
    const client = await connect();
    for (const uri of UNKNOWN) {
      const unknown = `Unknown resource: ${uri}. See resources/list and resources/templates/list`;
      await expect(client.subscribeResource({ uri })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(unknown),
      });
    }
    await client.subscribeResource({ uri: "test://7" });
    await client.close();
  });

  test("in the stateless revision", async () => {
    for (const uri of UNKNOWN) {
      const listened = await listen(["test://7", uri]);
      const message = expect.stringContaining(`Unknown resource: ${uri}`);
      expect([listened.status, await listened.json()]).toMatchObject([
        400,
        { id: 1, error: { code: -32602, message } },
      ]);
    }
    const listened = await listen(["test://7"]);
    expect(listened.status).toBe(200);
    await listened.body?.cancel();
  });
});

test("a session has at most 256 subscriptions, of URIs that a resource can have", async () => {
  const client = await connect();
  await expect(client.subscribeResource({ uri: `test://${"x".repeat(294)}` })).rejects.toThrow(
    /The URI has 301 characters/,
  );
  for (let number = 0; number < 256; number++) await client.subscribeResource({ uri: `test://${number}` });
  await expect(client.subscribeResource({ uri: "test://999" })).rejects.toThrow(/256 subscriptions/);
  await client.subscribeResource({ uri: "test://7" });
  await client.unsubscribeResource({ uri: "test://7" });
  await client.subscribeResource({ uri: "test://999" });
  await client.close();
});
