import type { IncomingHttpHeaders } from "node:http";
import { JSONRPCErrorException } from "json-rpc-2.0";
import { z } from "zod";
import type { HttpContext, HttpReply } from "../jsonrpc/http.ts";
import { protocolVersions, showsApps, type ToolResult, unfitArguments } from "./mcp.ts";
import type { McpService } from "./server.ts";

/** A call of a tool that needs nothing of the SDK. */
export interface DirectCall {
  readonly id: string | number;
  readonly params: object;
  /** Whether it is of the revision without sessions. */
  readonly isModern: boolean;
  readonly showsApps: boolean;
}

export interface DirectCalls {
  /** The call in a request; null for what only the SDK answers. */
  find(headers: IncomingHttpHeaders, message: unknown): DirectCall | null;
  answer(call: DirectCall, http: HttpContext): Promise<HttpReply>;
}

/** The revision without sessions: its requests tell everything in an envelope of their own, and again in their headers. */
const MODERN = "2026-07-28";
const KEY = "io.modelcontextprotocol";
const INTERNAL_ERROR = { code: -32603, message: "Internal error" };

const plainObject = z.custom<object>((one) => typeof one === "object" && one !== null && !Array.isArray(one));
/** What asks for more than an answer is the SDK's. */
const absent = z.never().optional();
const asksForMore = {
  progressToken: absent,
  [`${KEY}/logLevel`]: absent,
  [`${KEY}/related-task`]: absent,
};

/** What clients usually say of themselves; of anything else the SDK knows whether it is right. */
const ModernMeta = z.looseObject({
  [`${KEY}/protocolVersion`]: z.literal(MODERN),
  [`${KEY}/clientInfo`]: z
    .strictObject({ name: z.string(), title: z.string().optional(), version: z.string() })
    .optional(),
  [`${KEY}/clientCapabilities`]: z.strictObject({
    sampling: z.strictObject({ context: plainObject.optional(), tools: plainObject.optional() }).optional(),
    elicitation: z.strictObject({ form: z.strictObject({}).optional(), url: plainObject.optional() }).optional(),
    roots: z.strictObject({ listChanged: z.boolean().optional() }).optional(),
    extensions: z.record(z.string(), plainObject).optional(),
  }),
  ...asksForMore,
});
const BareMeta = z.looseObject({ [`${KEY}/protocolVersion`]: absent, ...asksForMore }).optional();

const callWith = <Meta extends z.ZodType>(meta: Meta) =>
  z.strictObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int()]),
    method: z.literal("tools/call"),
    params: z.strictObject({ name: z.string(), arguments: plainObject.optional(), _meta: meta }),
  });
const ModernCall = callWith(ModernMeta);
/** A call outside of a session in the revisions that have them. */
const BareCall = callWith(BareMeta);
/** The part of an envelope that tells what its client shows. */
const Declaring = z.object({
  [`${KEY}/clientCapabilities`]: z.object({ extensions: z.looseObject({}).optional() }).optional(),
});

/**
 * The fast way for calls of tools, at a fifth of what the SDK's transports cost or less. It takes a call only when nothing about it
 * could be answered otherwise: it is complete and belongs to no session, its headers agree with its body, it asks for neither
 * progress nor a task, and its tool answers by itself. The answer means what the SDK's would, which a test compares.
 * `onError` is told what no caller may know.
 */
export function directCalls(
  { serverInfo, methods, direct }: McpService,
  onError: (error: unknown) => void,
): DirectCalls {
  const resultOf = async (call: DirectCall, http: HttpContext): Promise<ToolResult> => {
    try {
      return (await methods["tools/call"]?.(call.params, http)) as ToolResult;
    } catch (thrown) {
      const unfit = unfitArguments(thrown);
      if (unfit) return unfit;
      throw thrown;
    }
  };

  const stamped = (result: ToolResult): object => ({
    ...result,
    resultType: "complete",
    _meta: { [`${KEY}/serverInfo`]: serverInfo, ...result._meta },
  });

  return {
    find(headers, message) {
      if (headers["mcp-session-id"] !== undefined || !headers.accept?.includes("application/json")) return null;
      const revision = headers["mcp-protocol-version"];
      const isModern = revision === MODERN;
      if (!isModern && revision !== undefined && !protocolVersions.some((one) => one === revision)) return null;
      const parsed = (isModern ? ModernCall : BareCall).safeParse(message);
      if (!parsed.success || !direct.has(parsed.data.params.name)) return null;
      const { id, method, params } = parsed.data;
      if (isModern && (headers["mcp-method"] !== method || headers["mcp-name"] !== params.name)) return null;
      const declared = isModern ? Declaring.safeParse(params._meta).data?.[`${KEY}/clientCapabilities`] : undefined;
      return { id, params, isModern, showsApps: showsApps(declared) };
    },

    async answer(call, http) {
      const { id, isModern, showsApps } = call;
      try {
        const result = await resultOf(call, { ...http, showsApps });
        return said({ id, result: isModern ? stamped(result) : result });
      } catch (thrown) {
        if (thrown instanceof JSONRPCErrorException) {
          const { code, message, data } = thrown;
          return said({ id, error: { code, message, data } });
        }
        onError(thrown);
        return said({ id, error: INTERNAL_ERROR });
      }
    },
  };
}

const said = (response: object): HttpReply => ({ status: 200, body: JSON.stringify({ jsonrpc: "2.0", ...response }) });
