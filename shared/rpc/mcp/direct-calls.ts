import type { IncomingHttpHeaders } from "node:http";
import { JSONRPCErrorException } from "json-rpc-2.0";
import { z } from "zod";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import { invalidArguments, protocolVersions, showsApps, type ToolResult } from "./methods.ts";
import type { McpService } from "./sdk-server.ts";

/** A call of a tool that can be answered without the SDK. */
export interface DirectCall {
  readonly id: string | number;
  readonly params: object;
  /** Whether the call is of the stateless revision (2026-07-28). */
  readonly isStateless: boolean;
  readonly showsApps: boolean;
}

export interface DirectCalls {
  /** Returns the call in a request; null if only the SDK can answer the request. */
  find(headers: IncomingHttpHeaders, message: unknown): DirectCall | null;
  answer(call: DirectCall, http: HttpContext): Promise<HttpReply>;
}

/** The stateless revision. Its requests carry their metadata in `_meta`, and repeat it in headers. */
const STATELESS_REVISION = "2026-07-28";
/** The prefix of the metadata keys of MCP. */
const META_PREFIX = "io.modelcontextprotocol";
const INTERNAL_ERROR = { code: -32603, message: "Internal error" };

const plainObject = z.custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value));
/** Requests with these fields need more than one message, so the SDK answers them. */
const absent = z.never().optional();
const sdkFields = {
  progressToken: absent,
  [`${META_PREFIX}/logLevel`]: absent,
  [`${META_PREFIX}/related-task`]: absent,
};

/** The usual metadata of clients. The SDK validates any other metadata. */
const StatelessMeta = z.looseObject({
  [`${META_PREFIX}/protocolVersion`]: z.literal(STATELESS_REVISION),
  [`${META_PREFIX}/clientInfo`]: z
    .strictObject({ name: z.string(), title: z.string().optional(), version: z.string() })
    .optional(),
  [`${META_PREFIX}/clientCapabilities`]: z.strictObject({
    sampling: z.strictObject({ context: plainObject.optional(), tools: plainObject.optional() }).optional(),
    elicitation: z.strictObject({ form: z.strictObject({}).optional(), url: plainObject.optional() }).optional(),
    roots: z.strictObject({ listChanged: z.boolean().optional() }).optional(),
    extensions: z.record(z.string(), plainObject).optional(),
  }),
  ...sdkFields,
});
const BareMeta = z.looseObject({ [`${META_PREFIX}/protocolVersion`]: absent, ...sdkFields }).optional();

const callWith = <Meta extends z.ZodType>(meta: Meta) =>
  z.strictObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int()]),
    method: z.literal("tools/call"),
    params: z.strictObject({ name: z.string(), arguments: plainObject.optional(), _meta: meta }),
  });
const StatelessCall = callWith(StatelessMeta);
/** A call outside of a session in a revision with sessions. */
const BareCall = callWith(BareMeta);
/** The part of the metadata with the extensions of the client. */
const Declared = z.object({
  [`${META_PREFIX}/clientCapabilities`]: z.object({ extensions: z.looseObject({}).optional() }).optional(),
});

/**
 * Answers calls of tools without the SDK's transports, with a fifth of their CPU time or less. It answers a call only if the SDK would answer
 * it with a single message: the call is complete and outside of a session, its headers match its body, it requests neither progress nor a
 * task, and its tool does not wait. A test compares the answers with those of the SDK. `onError` receives internal errors.
 */
export function directCalls(
  { serverInfo, methods, direct }: McpService,
  onError: (error: unknown) => void,
): DirectCalls {
  const resultOf = async (call: DirectCall, http: HttpContext): Promise<ToolResult> => {
    try {
      return (await methods["tools/call"]?.(call.params, http)) as ToolResult;
    } catch (thrown) {
      const rejection = invalidArguments(thrown);
      if (rejection) return rejection;
      throw thrown;
    }
  };

  const withMetadata = (result: ToolResult): object => ({
    ...result,
    resultType: "complete",
    _meta: { [`${META_PREFIX}/serverInfo`]: serverInfo, ...result._meta },
  });

  return {
    find(headers, message) {
      if (headers["mcp-session-id"] !== undefined || !headers.accept?.includes("application/json")) return null;
      const revision = headers["mcp-protocol-version"];
      const isStateless = revision === STATELESS_REVISION;
      if (!isStateless && revision !== undefined && !protocolVersions.some((version) => version === revision))
        return null;
      const parsed = (isStateless ? StatelessCall : BareCall).safeParse(message);
      if (!parsed.success || !direct.has(parsed.data.params.name)) return null;
      const { id, method, params } = parsed.data;
      if (isStateless && (headers["mcp-method"] !== method || headers["mcp-name"] !== params.name)) return null;
      const declared = isStateless
        ? Declared.safeParse(params._meta).data?.[`${META_PREFIX}/clientCapabilities`]
        : undefined;
      return { id, params, isStateless, showsApps: showsApps(declared) };
    },

    async answer(call, http) {
      const { id, isStateless, showsApps } = call;
      try {
        const result = await resultOf(call, { ...http, showsApps });
        return replyOf({ id, result: isStateless ? withMetadata(result) : result });
      } catch (thrown) {
        if (thrown instanceof JSONRPCErrorException) {
          const { code, message, data } = thrown;
          return replyOf({ id, error: { code, message, data } });
        }
        onError(thrown);
        return replyOf({ id, error: INTERNAL_ERROR });
      }
    },
  };
}

const replyOf = (response: object): HttpReply => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: "2.0", ...response }),
});
