import { createRequestStateCodec, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { INVALID_PARAMS, rpcError } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { directTools, type McpSurface, mcpMethods, subscriptionCheck } from "#shared/rpc/mcp/mcp.ts";
import type { McpMethod, McpService } from "#shared/rpc/mcp/server.ts";
import { complete, eventStore, plainPrompts, resources, template } from "./content.ts";
import { inputPrompts, inputTools, type Seal } from "./input.ts";
import { contextTools, type Fixture, plainTools } from "./tools.ts";

const Named = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });
const Read = z.object({ uri: z.string() });
const NO_ARGUMENTS = { type: "object", properties: {} };
const NOBODY = { bearer: null, remoteAddress: "" };

/**
 * A surface with the fixtures of the official conformance suite before its own tools and resources: they go through the same
 * router, sessions and stateless handler, which the suite thereby tests. Fixtures that talk to the client are there for MCP
 * clients only; plain JSON-RPC sees the others.
 */
export function withFixtures(surface: McpSurface, stateKey: string): McpService {
  const own = mcpMethods({ ...surface, templates: [template, ...surface.templates] });
  const states = createRequestStateCodec<number>({ key: stateKey });
  const seal: Seal = (round) => states.mint(round);
  const tools = (context?: ServerContext) =>
    context ? [...plainTools, ...contextTools(context), ...inputTools(context, seal)] : plainTools;
  const prompts = (context?: ServerContext) => (context ? [...plainPrompts, ...inputPrompts(context)] : plainPrompts);
  const ownList = async (method: string, key: string): Promise<readonly object[]> =>
    ((await own[method]?.({}, NOBODY)) as Readonly<Record<string, readonly object[]>> | undefined)?.[key] ?? [];

  const methods: Readonly<Record<string, McpMethod>> = {
    "tools/list": async (_params, _http, context) => ({
      tools: [
        ...tools(context).map((one) => ({ inputSchema: NO_ARGUMENTS, ...listed(one) })),
        ...(await ownList("tools/list", "tools")),
      ],
    }),
    "tools/call": (params, http, context) => called(tools(context), params) ?? own["tools/call"]?.(params, http),
    "resources/list": async () => ({
      resources: [
        ...resources.map(({ uri, mimeType }) => ({ uri, mimeType, name: uri, description: "A fixture" })),
        ...(await ownList("resources/list", "resources")),
      ],
    }),
    "resources/read": (params, http) => {
      const fixture = resources.find(({ uri }) => uri === Read.safeParse(params).data?.uri);
      return fixture ? { contents: [fixture] } : own["resources/read"]?.(params, http);
    },
    "prompts/list": (_params, _http, context) => ({ prompts: prompts(context).map(listed) }),
    "prompts/get": (params, _http, context) => {
      const answer = called(prompts(context), params);
      if (answer === undefined) throw rpcError(INVALID_PARAMS, "Unknown prompt");
      return answer;
    },
    "completion/complete": complete,
  };
  const isOwn = subscriptionCheck(surface);
  return {
    serverInfo: surface.serverInfo,
    instructions: surface.instructions,
    methods: { ...own, ...methods },
    direct: new Set([...plainTools.map(({ name }) => name), ...directTools(surface)]),
    isSubscribable: (uri) => isOwn(uri) || resources.some((fixture) => fixture.uri === uri),
    stateKey,
    options: {
      capabilities: { prompts: {}, completions: {}, logging: {} },
      requestState: { verify: states.verify },
    },
    eventStore,
  };
}

const listed = <T extends Fixture<unknown>>({ call: _, ...rest }: T): Omit<T, "call"> => rest;

/** What the named fixture answers; undefined when there is none of that name. */
function called(fixtures: readonly Fixture<unknown>[], params: unknown): unknown {
  const asked = Named.safeParse(params).data;
  return fixtures.find(({ name }) => name === asked?.name)?.call(asked?.arguments ?? {});
}
