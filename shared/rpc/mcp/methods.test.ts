import { describe, expect, test } from "vitest";
import { ask, faultsOf, serve, url } from "#shared/rpc/testing/endpoint.ts";
import { rpcNotification, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { mcpMethods, type Tool } from "./methods.ts";

const inputSchema = {
  type: "object",
  properties: { player_name: { type: "string" }, endpoint: { type: "string" } },
  required: ["player_name", "endpoint"],
};
const shown = {
  name: "register_player",
  title: "Register a player",
  description: "Register a new player to the league",
  inputSchema,
  outputSchema: { type: "object" },
  annotations: {},
};
const registerPlayer: Tool = {
  ...shown,
  call: async (args, { bearer }) => textResult({ args, bearer }),
};
const unhappy: Tool = {
  ...shown,
  name: "unhappy",
  annotations: { readOnlyHint: true },
  call: async () => ({ content: [{ type: "text", text: "no" }], structuredContent: { code: 1 }, isError: true }),
};

const standings = { standings: [{ rank: 1, player_id: "P01" }] };
const listed = { name: "League Standings", description: "Current league standings" };
const methods = mcpMethods({
  serverInfo: { name: "league-manager", version: "1.0.0" },
  tools: [registerPlayer, unhappy],
  resources: [{ uri: "league://standings", ...listed, read: async () => standings }],
  templates: [
    {
      uriTemplate: "league://{league_id}/standings",
      ...listed,
      read: ({ league_id }) => (league_id === "none" ? null : { league_id }),
    },
    { uriTemplate: "match://{league_id}/{match_id}", ...listed, read: (variables) => variables },
  ],
});

serve(methods, () => {});
const resultOf = async (method: string, params?: unknown) => (await ask(method, params)).result;
describe("initialize", () => {
  const client = { capabilities: { tools: {}, resources: {} }, clientInfo: { name: "player-agent", version: "1.0.0" } };
  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "negotiates the revision %s",
    async (protocolVersion) => {
      expect(await resultOf("initialize", { protocolVersion, ...client })).toEqual({
        protocolVersion,
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: "league-manager", version: "1.0.0" },
      });
    },
  );

  test("offers the newest revision for an unknown one, and requires a revision", async () => {
    expect(await resultOf("initialize", { protocolVersion: "1999-01-01" })).toMatchObject({
      protocolVersion: "2025-11-25",
    });
    expect(await faultsOf(ask("initialize", {}))).toEqual(["protocolVersion"]);
    expect(await faultsOf(ask("initialize"))).toEqual([""]);
  });

  test("answers ping, and the notification of the client without a body", async () => {
    expect(await resultOf("ping")).toEqual({});
    const body = JSON.stringify(rpcNotification("notifications/initialized"));
    const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect([reply.status, await reply.text()]).toEqual([202, ""]);
  });
});

describe("tools/list and tools/call", () => {
  test("list each tool with name, description and input schema, and without internal fields", async () => {
    const tools = [shown, { ...shown, name: "unhappy", annotations: { readOnlyHint: true } }];
    expect(await resultOf("tools/list", {})).toEqual({ tools });
    expect(await resultOf("tools/list")).toEqual({ tools });
  });

  test("pass arguments and caller to the tool, and return its result", async () => {
    const args = { player_name: "AlphaBot", endpoint: "http://localhost:8101/mcp" };
    const textOf = (value: unknown) => textResult(value);
    expect(await resultOf("tools/call", { name: "register_player", arguments: args })).toEqual(
      textOf({ args, bearer: null }),
    );
    expect((await ask("tools/call", { name: "register_player" }, "token")).result).toEqual(
      textOf({ args: {}, bearer: "token" }),
    );
    const rejection = { content: [{ type: "text", text: "no" }], structuredContent: { code: 1 }, isError: true };
    expect(await ask("tools/call", { name: "unhappy", arguments: null })).toMatchObject({
      status: 200,
      result: rejection,
    });
  });

  test.each(["nope", "", "toString", "__proto__"])("reject the unknown tool %j", async (name) => {
    const error = { code: -32602, message: `Unknown tool: ${name}` };
    expect(await ask("tools/call", { name, arguments: {} })).toMatchObject({ status: 200, error });
  });

  test("require a name", async () => {
    expect(await faultsOf(ask("tools/call", { arguments: {} }))).toEqual(["name"]);
  });
});

describe("resources/list and resources/read", () => {
  const mimeType = "application/json";
  test("list resources and templates without internal fields", async () => {
    expect(await resultOf("resources/list", {})).toEqual({
      resources: [{ uri: "league://standings", ...listed, mimeType }],
    });
    expect(await resultOf("resources/templates/list")).toEqual({
      resourceTemplates: ["league://{league_id}/standings", "match://{league_id}/{match_id}"].map((uriTemplate) => ({
        uriTemplate,
        ...listed,
        mimeType,
      })),
    });
  });

  test.each([
    ["league://standings", standings],
    ["league://even-odd/standings", { league_id: "even-odd" }],
    ["league://a%2Fb%20c/standings", { league_id: "a/b c" }],
    ["league://100%/standings", { league_id: "100%" }],
    ["match://rps/R1M1", { league_id: "rps", match_id: "R1M1" }],
  ])("read %s", async (uri, value) => {
    expect(await resultOf("resources/read", { uri })).toEqual({
      contents: [{ uri, mimeType, text: JSON.stringify(value) }],
    });
  });

  test.each([
    "league://none/standings",
    "league://a/b/standings",
    "league:///standings",
    "match://rps",
    "xmatch://a/b",
    "match://a/b/c",
    "",
    "toString",
  ])("reject the unknown resource %j", async (uri) => {
    expect(await ask("resources/read", { uri })).toMatchObject({
      status: 200,
      error: { code: -32602, message: `Unknown resource: ${uri}` },
    });
  });

  test("require a URI", async () => {
    expect(await faultsOf(ask("resources/read", {}))).toEqual(["uri"]);
  });
});
