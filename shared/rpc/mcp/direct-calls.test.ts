import type { Server } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { INVALID_PARAMS, rpcError } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { directTools, mcpMethods, type Tool } from "./methods.ts";
import type { McpService } from "./sdk-server.ts";
import { mcpSessions } from "./sessions.ts";

const about = { title: "T", description: "D", inputSchema: { type: "object" }, outputSchema: { type: "object" } };
const tool = (name: string, call: Tool["call"], more: Partial<Tool> = {}): Tool => ({
  ...about,
  name,
  annotations: {},
  call,
  ...more,
});
const text = (text: string) => ({ type: "text", text }) as const;
const tools = [
  tool("echo", async (args, { bearer, isMcpClient = false }) => ({
    content: [text("said"), { type: "resource", resource: { uri: "ui://x", mimeType: "text/html", text: "<p>" } }],
    structuredContent: { args, bearer, isMcpClient },
  })),
  tool("shown", async () => ({ content: [text("page")], _meta: { "league/own": 1 } })),
  tool("refuses", async () => ({ content: [text("not your turn")], isError: true as const })),
  tool("unfit", async () => {
    throw rpcError(INVALID_PARAMS, "Invalid params", { faults: [{ path: "x", message: "must be 1" }] });
  }),
  tool("denies", async () => {
    throw rpcError(INVALID_PARAMS, "No such thing", { uri: "x" });
  }),
  tool("broken", async () => {
    throw new Error("secret: /srv/league");
  }),
  tool("unsayable", async () => ({ content: [], structuredContent: { big: 1n } })),
  tool("waits", async () => ({ content: [text("waited")] }), { waits: true }),
];
const surface = { serverInfo: { name: "test", version: "1.0.0" }, tools, resources: [], templates: [] };
const handlers = { methods: mcpMethods(surface), direct: directTools(surface), isSubscribable: () => true };
const service: McpService = { ...surface, ...handlers, stateKey: "k".repeat(43) };

/** The same service at two endpoints: with direct answers, and with the SDK for every request. */
let ways: { fast: Way; sdk: Way };
interface Way {
  readonly server: Server;
  readonly url: string;
  readonly errors: unknown[];
  /** The number of calls that were answered without the SDK. */
  direct: number;
}
async function open(service: McpService): Promise<Way> {
  const errors: unknown[] = [];
  const all = mcpSessions(service, (error) => errors.push(error), systemClock, systemIds);
  const counting = {
    ...all,
    direct: {
      ...all.direct,
      answer: (...args: Parameters<typeof all.direct.answer>) => {
        way.direct++;
        return all.direct.answer(...args);
      },
    },
  };
  const server = httpEndpoint({
    handler: () => Promise.reject(),
    sessions: async () => counting,
    web: () => Promise.reject(),
    bodyLimit: () => 64 * 1024,
    allowedHosts: [],
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  const way: Way = { server, url, errors, direct: 0 };
  return way;
}
beforeAll(async () => {
  ways = { fast: await open(service), sdk: await open({ ...service, direct: new Set() }) };
});
afterAll(() => {
  for (const { server } of Object.values(ways)) server.close().closeAllConnections();
});
beforeEach(() => {
  for (const way of Object.values(ways)) {
    way.direct = 0;
    way.errors.length = 0;
  }
});

// biome-ignore lint/suspicious/noExplicitAny: requests and answers of any shape
type Wire = any;
interface Sent {
  readonly body: Wire;
  readonly headers: Record<string, string>;
}

const KEY = "io.modelcontextprotocol";
const META = {
  [`${KEY}/protocolVersion`]: "2026-07-28",
  [`${KEY}/clientInfo`]: { name: "test", version: "1.0.0" },
  [`${KEY}/clientCapabilities`]: {},
};
const bare = (name: string, args?: object): Sent => ({
  body: rpcRequest("tools/call", { name, ...(args && { arguments: args }) }, 7),
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
});
const stateless = (name: string, args?: object): Sent => {
  const { body, headers } = bare(name, args);
  return {
    body: { ...body, params: { ...body.params, _meta: META } },
    headers: { ...headers, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name },
  };
};
const withParams = ({ body, headers }: Sent, more: object): Sent => ({
  body: { ...body, params: { ...body.params, ...more } },
  headers,
});
const withMeta = (sent: Sent, more: object): Sent =>
  withParams(sent, { _meta: { ...sent.body.params._meta, ...more } });
const withHeaders = ({ body, headers }: Sent, more: Record<string, string>): Sent => ({
  body,
  headers: { ...headers, ...more },
});
const without = ({ body, headers }: Sent, header: string): Sent => ({
  body,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header)),
});

/** The answer as JSON-RPC, from a JSON body or from the only event of a stream. */
async function ask({ url }: Way, { body, headers }: Sent): Promise<{ status: number; answer: Wire }> {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const received = await response.text();
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const json = isStream ? (/^data: (.*)$/m.exec(received)?.[1] ?? "null") : received;
  return { status: response.status, answer: JSON.parse(json) };
}
async function askBoth(sent: Sent) {
  const [fast, sdk] = await Promise.all([ask(ways.fast, sent), ask(ways.sdk, sent)]);
  return { fast, sdk };
}

const eras = { "2026-07-28": stateless, bare };
describe.each(Object.keys(eras) as (keyof typeof eras)[])(
  "a direct answer at %s equals the answer of the SDK",
  (era) => {
    const call = eras[era];
    it.each([
      ["a valid call", call("echo", { move: [1, { a: "ü" }] })],
      ["no arguments", call("echo")],
      ["a bearer token", withHeaders(call("echo"), { authorization: "Bearer token" })],
      ["an answer with metadata", call("shown")],
      ["a rejection", call("refuses")],
      ["invalid arguments", call("unfit")],
      ["a protocol error", call("denies")],
      ["an internal error", call("broken")],
      ["an id that is text", { ...call("echo"), body: { ...call("echo").body, id: "x-1" } }],
      [
        "metadata of another vendor",
        withMeta(call("echo"), { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }),
      ],
    ])("%s", async (_what, sent) => {
      const { fast, sdk } = await askBoth(sent);
      expect(fast).toEqual(sdk);
      expect([ways.fast.direct, ways.sdk.direct]).toEqual([1, 0]);
      expect(ways.fast.errors).toEqual(ways.sdk.errors);
    });

    it("is an internal error for a result that cannot be written as JSON", async () => {
      const { status, answer } = await ask(ways.fast, call("unsayable"));
      expect([status, answer.error]).toEqual([200, { code: -32603, message: "Internal error" }]);
      expect(ways.fast.errors).toMatchObject([{ message: /BigInt/ }]);
    });

    it.each([
      ["a tool that may wait", call("waits")],
      ["an unknown tool", call("nothing")],
      ["a tool of the prototype", call("constructor")],
      ["another method", { ...call("echo"), body: { ...call("echo").body, method: "tools/list" } }],
      ["arguments that are not an object", withParams(call("echo"), { arguments: [1] })],
      ["no name", withParams(call("echo"), { name: undefined })],
      ["request state", withParams(call("echo"), { requestState: "x" })],
      ["input responses", withParams(call("echo"), { inputResponses: {} })],
      ["a task", withParams(call("echo"), { task: { ttl: 1 } })],
      ["a progress token", withMeta(call("echo"), { progressToken: 1 })],
      ["a log level", withMeta(call("echo"), { [`${KEY}/logLevel`]: "info" })],
      ["an id that is not an integer", { ...call("echo"), body: { ...call("echo").body, id: 1.5 } }],
      ["the id null", { ...call("echo"), body: { ...call("echo").body, id: null } }],
      ["a member that JSON-RPC does not know", { ...call("echo"), body: { ...call("echo").body, more: 1 } }],
      ["another JSON-RPC", { ...call("echo"), body: { ...call("echo").body, jsonrpc: "1.0" } }],
      ["a batch", { ...call("echo"), body: [call("echo").body] }],
      ["a client that wants no JSON", withHeaders(call("echo"), { accept: "text/event-stream" })],
      ["an unknown revision", withHeaders(call("echo"), { "mcp-protocol-version": "2031-01-01" })],
      ["a session", withHeaders(call("echo"), { "mcp-session-id": "gone" })],
    ])("is left to the SDK for %s", async (_what, sent) => {
      const { fast, sdk } = await askBoth(sent);
      expect(fast).toEqual(sdk);
      expect([ways.fast.direct, ways.fast.errors]).toEqual([0, []]);
    });
  },
);

describe("an envelope of 2026-07-28", () => {
  it.each([
    ["no client information", { [`${KEY}/clientInfo`]: undefined }],
    [
      "the usual capabilities of clients",
      {
        [`${KEY}/clientCapabilities`]: {
          sampling: { tools: {} },
          elicitation: { form: {}, url: {} },
          roots: { listChanged: true },
          extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } },
        },
      },
    ],
  ])("is answered directly with %s", async (_what, more) => {
    const { fast, sdk } = await askBoth(withMeta(stateless("echo"), more));
    expect(fast).toEqual(sdk);
    expect([fast.status, ways.fast.direct]).toEqual([200, 1]);
  });

  it.each([
    ["no capabilities", withMeta(stateless("echo"), { [`${KEY}/clientCapabilities`]: undefined })],
    ["invalid capabilities", withMeta(stateless("echo"), { [`${KEY}/clientCapabilities`]: { roots: 1 } })],
    ["invalid client information", withMeta(stateless("echo"), { [`${KEY}/clientInfo`]: { name: 1 } })],
    ["another revision in the body", withMeta(stateless("echo"), { [`${KEY}/protocolVersion`]: "2025-11-25" })],
    ["no envelope", withParams(stateless("echo"), { _meta: undefined })],
    ["another method in the headers", withHeaders(stateless("echo"), { "mcp-method": "tools/list" })],
    ["another tool in the headers", withHeaders(stateless("echo"), { "mcp-name": "shown" })],
    ["no revision in the headers", without(stateless("echo"), "mcp-protocol-version")],
    ["no method in the headers", without(stateless("echo"), "mcp-method")],
    ["no tool in the headers", without(stateless("echo"), "mcp-name")],
  ])("is left to the SDK with %s", async (_what, sent) => {
    const { fast, sdk } = await askBoth(sent);
    expect(fast).toEqual(sdk);
    expect([fast.status, ways.fast.direct]).toEqual([400, 0]);
  });
});
