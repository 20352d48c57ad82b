import { JSONRPCErrorException } from "json-rpc-2.0";
import { z } from "zod";
import { readWritten } from "#shared/lib/written-values.ts";
import type { FieldFault } from "#shared/protocol/envelope.ts";
import type { InputNeeded } from "#shared/rpc/jsonrpc/caller-input.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import { INVALID_PARAMS, type Method, rpcError, withRejections } from "#shared/rpc/jsonrpc/json-rpc.ts";

/** The content of a result: text, or a page that a host may show to its user. */
export type Content =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType: string; readonly text: string };
    };

/** The result of a tool in MCP; `isError` marks a rejection that the caller can act on. */
export interface ToolResult {
  readonly content: readonly Content[];
  readonly structuredContent?: object;
  /** For the host and its apps; the LLM does not read it. */
  readonly _meta?: object;
  readonly isError?: true;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** The purpose of the tool, for an LLM that chooses between tools. */
  readonly description: string;
  /** JSON Schemas. */
  readonly inputSchema: object;
  readonly outputSchema: object;
  readonly annotations: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  /** For hosts, e.g. the page of the tool: `{ui: {resourceUri}}`. */
  readonly _meta?: object;
  /** Whether the tool may wait before it answers. An MCP client then receives the answer on an event stream. */
  readonly waits?: boolean;
  /** Answers a call. Rejects with an `rpcError` for invalid arguments. */
  call(args: unknown, http: HttpContext): Promise<ToolResult | InputNeeded>;
}

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** JSON by default. */
  readonly mimeType?: string;
  readonly _meta?: object;
  /** Returns the content: a value that is written as JSON, or the text if `mimeType` is not JSON. */
  read(http: HttpContext): Promise<unknown> | unknown;
}

export interface ResourceTemplate {
  /** E.g. `league://{league_id}/standings`; a variable is one path segment. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  /** JSON by default. */
  readonly mimeType?: string;
  /** Returns the content; null if the resource does not exist. */
  read(variables: Readonly<Record<string, string>>): Promise<unknown> | unknown;
  /** Returns whether the resource exists or may exist later. Without it, every resource may exist. */
  canExist?(variables: Readonly<Record<string, string>>): boolean;
}

export interface McpSurface {
  readonly serverInfo: { readonly name: string; readonly version: string };
  /** Instructions for a model that calls the tools. Hosts add them to the model's context. */
  readonly instructions?: string;
  readonly tools: readonly Tool[];
  /** The names of tools that can be called but are not in `tools/list`. */
  readonly unlisted?: ReadonlySet<string>;
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  /** Answers requests in another dialect of the league's protocol; returns null for all others. */
  readonly answerForeign?: (request: unknown, http: HttpContext) => Promise<HttpReply> | null;
  /** The key that signs the state that callers send back between the rounds of a call. With the same key, a call can continue after a restart. */
  readonly stateKey?: string;
  /** The beginning of the ids of MCP sessions; empty by default. It names the server that has opened the session, for services of several servers. */
  readonly sessionPrefix?: string | undefined;
  /** The time limit for the answer of a client in a session to a question of a tool, in milliseconds. */
  readonly answerWithinMs?: number | undefined;
}

export const APPS_EXTENSION = "io.modelcontextprotocol/ui";

/** Returns whether a client with these capabilities shows MCP Apps (SEP-1865). */
export const showsApps = (capabilities: { readonly extensions?: object | undefined } | undefined): boolean =>
  Object.hasOwn(capabilities?.extensions ?? {}, APPS_EXTENSION);

/** The revisions with sessions. */
export const protocolVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
const NEWEST = "2025-11-25";
const JSON_TYPE = "application/json";

const Initialize = z.object({ protocolVersion: z.string() });
const CallTool = z.compile(z.object({ name: z.string(), arguments: z.unknown().optional() }));
const ReadResource = z.object({ uri: z.string() });

/** Returns the MCP methods of an agent as plain JSON-RPC, for callers without a session (curl, leagues, bots). */
export function mcpMethods(surface: McpSurface): Readonly<Record<string, Method>> {
  const tools = new Map(surface.tools.map((tool) => [tool.name, tool]));
  const listed = surface.tools.filter(({ name }) => !surface.unlisted?.has(name));
  const templates = surface.templates.map((template) => ({ ...template, pattern: patternOf(template.uriTemplate) }));

  const read = async (uri: string, http: HttpContext): Promise<ReadText> => {
    const resource = surface.resources.find((listed) => listed.uri === uri);
    if (resource) return { uri, ...asText(await resource.read(http), resource) };
    for (const template of templates) {
      const match = template.pattern.exec(uri);
      const found = match ? await template.read(variablesOf(match)) : null;
      if (found !== null) return { uri, ...asText(found, template) };
    }
    throw rpcError(INVALID_PARAMS, `Unknown resource: ${uri.slice(0, 200)}`, { uri });
  };

  return withRejections({
    initialize: (params) => {
      const requested = parse(Initialize, params).protocolVersion;
      const known = protocolVersions.find((version) => version === requested);
      return {
        protocolVersion: known ?? NEWEST,
        capabilities: { tools: {}, resources: {} },
        serverInfo: surface.serverInfo,
        ...(surface.instructions !== undefined && { instructions: surface.instructions }),
      };
    },
    "notifications/initialized": () => ({}),
    ping: () => ({}),
    "tools/list": () => ({ tools: listed.map(({ call: _, waits: __, ...shown }) => shown) }),
    "tools/call": (params, http) => {
      const { name, arguments: args } = parse(CallTool, params);
      const tool = tools.get(name);
      if (!tool) throw rpcError(INVALID_PARAMS, `Unknown tool: ${name.slice(0, 200)}`);
      return tool.call(readArguments(args), http);
    },
    "resources/list": () => ({
      resources: surface.resources.map(({ read: _, ...listed }) => ({ mimeType: JSON_TYPE, ...listed })),
    }),
    "resources/templates/list": () => ({
      resourceTemplates: surface.templates.map(({ read: _, canExist: __, ...listed }) => ({
        mimeType: JSON_TYPE,
        ...listed,
      })),
    }),
    "resources/read": async (params, http) => {
      const { uri } = parse(ReadResource, params);
      return { contents: [await read(uri, http)] };
    },
  });
}

/** Returns the arguments of a call: none for null and an empty text, and those in the text of a JSON object. */
const readArguments = (given: unknown): unknown =>
  given === null || given === undefined || given === "" ? {} : readWritten({ type: "object" }, given);

const WrittenCall = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ arguments: z.union([z.null(), z.string()]) }),
});

/** Returns a message with the arguments of a call as an object, because the SDK rejects null and texts. Any other message is returned unchanged. */
export function withArguments(message: unknown): unknown {
  const call = WrittenCall.safeParse(message).data;
  return call ? { ...call, params: { ...call.params, arguments: readArguments(call.params.arguments) } } : message;
}

/** Returns a function that checks whether clients may subscribe to a URI: to every resource that exists or may exist later. */
export function subscriptionCheck({
  resources,
  templates,
}: Pick<McpSurface, "resources" | "templates">): (uri: string) => boolean {
  const known = new Set(resources.map(({ uri }) => uri));
  const patterns = templates.map(({ uriTemplate, canExist }) => ({ pattern: patternOf(uriTemplate), canExist }));
  const isOf = (uri: string, { pattern, canExist }: (typeof patterns)[number]): boolean => {
    const match = pattern.exec(uri);
    return match !== null && (canExist?.(variablesOf(match)) ?? true);
  };
  return (uri) => known.has(uri) || patterns.some((pattern) => isOf(uri, pattern));
}

/** Returns the names of the tools that answer without waiting. */
export const directTools = ({ tools }: Pick<McpSurface, "tools">): ReadonlySet<string> =>
  new Set(tools.filter(({ waits }) => !waits).map(({ name }) => name));

interface ReadText {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
  readonly _meta?: object;
}

const asText = (value: unknown, { mimeType = JSON_TYPE, _meta }: Pick<Resource, "mimeType" | "_meta">) => ({
  mimeType,
  text: mimeType !== JSON_TYPE && typeof value === "string" ? value : JSON.stringify(value),
  ...(_meta && { _meta }),
});

function parse<T>(schema: z.ZodType<T>, params: unknown): T {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw rpcError(INVALID_PARAMS, "Invalid params", {
    faults: parsed.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message })),
  });
}

/** Returns a template such as `a://{x}/b` as a regular expression with a named group for each variable. */
function patternOf(uriTemplate: string): RegExp {
  const escaped = uriTemplate.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

function variablesOf(match: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, value]) => [name, decode(value)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the result of a tool for invalid arguments; null for any other error. An LLM reads a result and can correct its arguments, but may not
 * see a protocol error (SEP-1303).
 */
export function invalidArguments(thrown: unknown): ToolResult | null {
  const data =
    thrown instanceof JSONRPCErrorException ? (thrown.data as { faults?: readonly FieldFault[] } | null) : null;
  if (!data?.faults) return null;
  const faults = data.faults.map(({ path, message }) => `${path || "arguments"}: ${message}`);
  return { content: [{ type: "text", text: `Invalid arguments. ${faults.join("; ")}` }], isError: true };
}
