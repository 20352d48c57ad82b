import { JSONRPCErrorException } from "json-rpc-2.0";
import { z } from "zod";
import type { FieldFault } from "../../protocol/envelope.ts";
import type { HttpContext } from "../jsonrpc/http.ts";
import type { InputNeeded } from "../jsonrpc/input.ts";
import { INVALID_PARAMS, type Method, rpcError } from "../jsonrpc/json-rpc.ts";
import { withRejections } from "../jsonrpc/method-rejections.ts";

/** What a tool shows: text, or a page that a host may show to its user. */
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
  /** For the host and its apps, not for the LLM. */
  readonly _meta?: object;
  readonly isError?: true;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** What it does, for an LLM that has to choose. */
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
  /** For hosts, e.g. the page that goes with the tool: `{ui: {resourceUri}}`. */
  readonly _meta?: object;
  /** It may take its time, and an MCP client is then given a stream that stays alive. */
  readonly waits?: boolean;
  /** Answers a call; throws an `rpcError` for arguments that do not fit. */
  call(args: unknown, http: HttpContext): Promise<ToolResult | InputNeeded>;
}

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** JSON unless it says otherwise. */
  readonly mimeType?: string;
  readonly _meta?: object;
  /** The content: a value to be shown as JSON, or the text itself of a type that is not JSON. */
  read(http: HttpContext): Promise<unknown> | unknown;
}

export interface ResourceTemplate {
  /** e.g. `league://{league_id}/standings`; a variable takes one path segment. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  /** JSON unless it says otherwise. */
  readonly mimeType?: string;
  /** The content, or null when there is no such resource. */
  read(variables: Readonly<Record<string, string>>): Promise<unknown> | unknown;
  /** Whether such a resource exists or may exist later. If absent, it may for every value. */
  canExist?(variables: Readonly<Record<string, string>>): boolean;
}

export interface McpSurface {
  readonly serverInfo: { readonly name: string; readonly version: string };
  /** What a model should know before it calls a tool; hosts add it to the model's context. */
  readonly instructions?: string;
  readonly tools: readonly Tool[];
  /** Names of tools that can be called but are not in `tools/list`. */
  readonly unlisted?: ReadonlySet<string>;
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  /** Signs what travels through callers between the rounds of a call; kept over a restart by who wants calls to go on then. */
  readonly stateKey?: string;
  /** How long a client in a session may take to answer what a tool asks. */
  readonly answerWithinMs?: number | undefined;
}

export const APPS_EXTENSION = "io.modelcontextprotocol/ui";

/** Whether a client that declares these capabilities shows MCP Apps (SEP-1865). */
export const showsApps = (capabilities: { readonly extensions?: object | undefined } | undefined): boolean =>
  Object.hasOwn(capabilities?.extensions ?? {}, APPS_EXTENSION);

/** The revisions with sessions. */
export const protocolVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
const NEWEST = "2025-11-25";
const JSON_TYPE = "application/json";

const Initialize = z.object({ protocolVersion: z.string() });
const CallTool = z.compile(z.object({ name: z.string(), arguments: z.unknown().optional() }));
const ReadResource = z.object({ uri: z.string() });

/** The MCP methods of one agent as plain JSON-RPC, for callers without a session (curl, leagues, bots). */
export function mcpMethods(surface: McpSurface): Readonly<Record<string, Method>> {
  const tools = new Map(surface.tools.map((tool) => [tool.name, tool]));
  const listed = surface.tools.filter(({ name }) => !surface.unlisted?.has(name));
  const templates = surface.templates.map((template) => ({ ...template, pattern: patternOf(template.uriTemplate) }));

  const read = async (uri: string, http: HttpContext): Promise<ReadText> => {
    const resource = surface.resources.find((one) => one.uri === uri);
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
      const asked = parse(Initialize, params).protocolVersion;
      const known = protocolVersions.find((version) => version === asked);
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
      return tool.call(args ?? {}, http);
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

/** Tells which URIs clients may subscribe to: those of resources that exist or may exist later. */
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
  return (uri) => known.has(uri) || patterns.some((one) => isOf(uri, one));
}

/** The tools that answer by themselves, at once. */
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

/** `a://{x}/b` as a regular expression with a named group for each variable. */
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

/** Arguments that do not fit are a tool's answer, which an LLM reads and mends; a protocol error it may never see (SEP-1303). */
export function unfitArguments(thrown: unknown): ToolResult | null {
  const data =
    thrown instanceof JSONRPCErrorException ? (thrown.data as { faults?: readonly FieldFault[] } | null) : null;
  if (!data?.faults) return null;
  const faults = data.faults.map(({ path, message }) => `${path || "arguments"}: ${message}`);
  return { content: [{ type: "text", text: `Invalid arguments. ${faults.join("; ")}` }], isError: true };
}
