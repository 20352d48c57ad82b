import { createRequestStateCodec, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { INVALID_PARAMS, rpcError } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { directTools, type McpSurface, mcpMethods, subscriptionCheck } from "#shared/rpc/mcp/mcp.ts";
import type { McpMethod, McpService } from "#shared/rpc/mcp/server.ts";
import { complete, eventStore, plainPrompts, resources, template } from "./content.ts";
import { inputPrompts, inputTools, type Seal } from "./input.ts";
import { contextTools, type Fixture, plainTools } from "./tools.ts";

const CallParams = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });
const ReadParams = z.object({ uri: z.string() });
const NO_ARGUMENTS = { type: "object", properties: {} };
const ANONYMOUS = { bearer: null, remoteAddress: "" };

/**
 * Adds the fixtures of the official conformance suite to a surface, before its tools and resources. They use the same router, sessions and stateless
 * handler, so the suite tests these. Fixtures that send messages to the client exist only for MCP clients, not for plain JSON-RPC.
 */
export function withFixtures(surface: McpSurface, stateKey: string): McpService {
  const agentMethods = mcpMethods({ ...surface, templates: [template, ...surface.templates] });
  const states = createRequestStateCodec<number>({ key: stateKey });
  const seal: Seal = (round) => states.mint(round);
  const tools = (context?: ServerContext) =>
    context ? [...plainTools, ...contextTools(context), ...inputTools(context, seal)] : plainTools;
  const prompts = (context?: ServerContext) => (context ? [...plainPrompts, ...inputPrompts(context)] : plainPrompts);
  const agentList = async (method: string, key: string): Promise<readonly object[]> =>
    ((await agentMethods[method]?.({}, ANONYMOUS)) as Readonly<Record<string, readonly object[]>> | undefined)?.[key] ??
    [];

  const methods: Readonly<Record<string, McpMethod>> = {
    "tools/list": async (_params, _http, context) => ({
      tools: [
        ...tools(context).map((tool) => ({ inputSchema: NO_ARGUMENTS, ...descriptionOf(tool) })),
        ...(await agentList("tools/list", "tools")),
      ],
    }),
    "tools/call": (params, http, context) =>
      callFixture(tools(context), params) ?? agentMethods["tools/call"]?.(params, http),
    "resources/list": async () => ({
      resources: [
        ...resources.map(({ uri, mimeType }) => ({ uri, mimeType, name: uri, description: "A fixture" })),
        ...(await agentList("resources/list", "resources")),
      ],
    }),
    "resources/read": (params, http) => {
      const fixture = resources.find(({ uri }) => uri === ReadParams.safeParse(params).data?.uri);
      return fixture ? { contents: [fixture] } : agentMethods["resources/read"]?.(params, http);
    },
    "prompts/list": (_params, _http, context) => ({ prompts: prompts(context).map(descriptionOf) }),
    "prompts/get": (params, _http, context) => {
      const answer = callFixture(prompts(context), params);
      if (answer === undefined) throw rpcError(INVALID_PARAMS, "Unknown prompt");
      return answer;
    },
    "completion/complete": complete,
  };
  const isSubscribable = subscriptionCheck(surface);
  return {
    serverInfo: surface.serverInfo,
    instructions: surface.instructions,
    methods: { ...agentMethods, ...methods },
    direct: new Set([...plainTools.map(({ name }) => name), ...directTools(surface)]),
    isSubscribable: (uri) => isSubscribable(uri) || resources.some((fixture) => fixture.uri === uri),
    stateKey,
    options: {
      capabilities: { prompts: {}, completions: {}, logging: {} },
      requestState: { verify: states.verify },
    },
    eventStore,
  };
}

/** Returns the fields of a fixture that lists contain. */
const descriptionOf = <T extends Fixture<unknown>>({ call: _, ...rest }: T): Omit<T, "call"> => rest;

/** Calls the named fixture and returns its answer; undefined if no fixture has this name. */
function callFixture(fixtures: readonly Fixture<unknown>[], params: unknown): unknown {
  const request = CallParams.safeParse(params).data;
  return fixtures.find(({ name }) => name === request?.name)?.call(request?.arguments ?? {});
}
