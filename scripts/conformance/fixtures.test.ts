import { describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import type { McpSurface } from "#shared/rpc/mcp/methods.ts";
import { ask, serve } from "#shared/rpc/testing/endpoint.ts";
import { withFixtures } from "./fixtures.ts";

const surface: McpSurface = {
  serverInfo: { name: "test", version: "1" },
  tools: [
    {
      name: "own",
      title: "Own",
      description: "Answers",
      inputSchema: { type: "object" },
      outputSchema: { type: "object" },
      annotations: {},
      call: async () => ({ content: [{ type: "text", text: "own answer" }] }),
    },
  ],
  resources: [
    { uri: "own://resource", name: "own", description: "A resource of the agent", read: () => ({ own: true }) },
  ],
  templates: [],
};

/** Tests plain JSON-RPC, which the suite does not use. `npm run conformance` tests MCP clients. */
describe("the conformance fixtures in plain JSON-RPC", () => {
  serve(withFixtures(surface, "k".repeat(43)).methods, (error) => {
    throw error;
  });

  it("are listed before the tools and resources of the agent, without the fixtures that need a client", async () => {
    const tools = (await ask("tools/list")).result as { tools: { name: string }[] };
    const names = tools.tools.map(({ name }) => name);
    expect(names[0]).toBe("test_simple_text");
    expect(names.at(-1)).toBe("own");
    expect(names).not.toContain("test_sampling");
    const resources = (await ask("resources/list")).result as { resources: { uri: string }[] };
    expect(resources.resources.map(({ uri }) => uri)).toContain("own://resource");
  });

  it.each([
    ["tools/call", { name: "test_image_content" }, "image/png"],
    ["tools/call", { name: "own" }, "own answer"],
    ["resources/read", { uri: "test://static-binary" }, "blob"],
    ["resources/read", { uri: "test://template/123/data" }, "Data for ID: 123"],
    ["resources/read", { uri: "own://resource" }, "own"],
    ["prompts/list", {}, "test_prompt_with_arguments"],
    ["prompts/get", { name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } }, "arg1='a', arg2='b'"],
    ["completion/complete", { argument: { name: "arg1", value: "par" } }, "paris"],
  ])("are found by %s %j", async (method, params, expected) => {
    const { status, result } = await ask(method, params);
    expect(status).toBe(200);
    expect(JSON.stringify(result)).toContain(expected);
  });

  it.each([
    ["tools/call", { name: "test_sampling", arguments: { prompt: "?" } }],
    ["prompts/get", { name: "test_input_required_result_prompt" }],
    ["prompts/get", undefined],
  ])("are not found by %s %j", async (method, params) => {
    expect((await ask(method, params)).error?.code).toBe(-32602);
  });
});

it("an agent has no conformance fixtures by default", async () => {
  const { handler } = mcpEndpoint(surface, () => {}, systemClock, systemIds);
  const caller = { bearer: null, remoteAddress: "127.0.0.1" };
  const { body } = await handler('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', caller);
  expect(JSON.parse(body).result.tools.map(({ name }: { name: string }) => name)).toEqual(["own"]);
  const prompts = await handler('{"jsonrpc":"2.0","id":1,"method":"prompts/list"}', caller);
  expect(JSON.parse(prompts.body).error.code).toBe(-32601);
});
