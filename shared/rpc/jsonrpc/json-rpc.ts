import {
  createJSONRPCErrorResponse,
  JSONRPCErrorException,
  type JSONRPCErrorResponse,
  type JSONRPCID,
  type JSONRPCRequest,
  type JSONRPCResponse,
  JSONRPCServer,
} from "json-rpc-2.0";
import { z } from "zod";
import type { Clock } from "../../lib/clock.ts";
import { asTheyCome } from "./batch-reply.ts";
import type { HttpContext, HttpReply } from "./http.ts";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/** HTTP status of a reply, by its JSON-RPC error (PROTOCOL.md, section 4). */
const httpStatus: Readonly<Record<number, number>> = {
  [PARSE_ERROR]: 400,
  [INVALID_REQUEST]: 400,
  [METHOD_NOT_FOUND]: 404,
  [INTERNAL_ERROR]: 500,
};

export const MAX_BATCH = 100;

const Request = z.compile(
  z.object({
    jsonrpc: z.literal("2.0"),
    method: z.string(),
    params: z.custom<object>((value) => typeof value === "object" && value !== null).optional(),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
  }),
);

export type Method = (params: unknown, http: HttpContext) => unknown;

/** A rejection that names its JSON-RPC code; `data` reaches the caller as `error.data`. */
export const rpcError = (code: number, message: string, data?: unknown): Error =>
  new JSONRPCErrorException(message, code, data);

interface JsonRpc {
  /** Answers one request body: an object or a batch, whose answers come in the order in which they are ready. Never rejects. */
  answer(text: string, http: HttpContext): Promise<HttpReply>;
}

/**
 * A JSON-RPC 2.0 server over named methods. What a method throws as `rpcError` reaches the caller, anything else is an
 * internal error: told to `onInternalError`, never to the caller.
 */
export function jsonRpc(
  methods: Readonly<Record<string, Method>>,
  onInternalError: (error: unknown) => void,
  clock: Clock,
): JsonRpc {
  const tell = (error: unknown): void => {
    if (!(error instanceof JSONRPCErrorException)) onInternalError(error);
  };
  const server = new JSONRPCServer<HttpContext>({ errorListener: (_message, error) => tell(error) });
  for (const [name, method] of Object.entries(methods)) server.addMethod(name, method);
  server.mapErrorToJSONRPCErrorResponse = (id: JSONRPCID, error: unknown): JSONRPCErrorResponse =>
    error instanceof JSONRPCErrorException
      ? createJSONRPCErrorResponse(id, error.code, error.message, error.data)
      : internalError(id);

  const single = async (request: unknown, http: HttpContext): Promise<HttpReply> => {
    const parsed = Request.safeParse(request);
    if (!parsed.success) return refuse(http, idOf(request), INVALID_REQUEST, "Invalid Request");
    const response = await server.receive(parsed.data as JSONRPCRequest, http);
    if (response?.error?.code === METHOD_NOT_FOUND) {
      const { code, message: reason } = response.error;
      http.logRejection?.({ code, reason, request: parsed.data.method });
    }
    try {
      return reply(response);
    } catch (thrown) {
      tell(thrown); // the result is nothing that JSON can say
      return reply(internalError(response?.id ?? null));
    }
  };

  return {
    async answer(text, http) {
      let message: unknown;
      try {
        message = JSON.parse(text);
      } catch {
        return refuse(http, null, PARSE_ERROR, "Parse error");
      }
      if (!Array.isArray(message)) return single(message, http);
      if (message.length === 0 || message.length > MAX_BATCH) {
        const why = `Invalid Request: a batch holds 1 to ${MAX_BATCH} requests`;
        return refuse(http, null, INVALID_REQUEST, why);
      }
      return asTheyCome(
        message.map((request) => single(request, http)),
        clock,
      );
    },
  };
}

function refuse(http: HttpContext, id: JSONRPCID, code: number, reason: string): HttpReply {
  http.logRejection?.({ code, reason, request: "POST /mcp" });
  return reply(createJSONRPCErrorResponse(id, code, reason));
}

const internalError = (id: JSONRPCID): JSONRPCErrorResponse =>
  createJSONRPCErrorResponse(id, INTERNAL_ERROR, "Internal error");

function reply(response: JSONRPCResponse | null): HttpReply {
  if (response === null) return { status: 202, body: "" };
  const status = response.error ? (httpStatus[response.error.code] ?? 200) : 200;
  return { status, body: JSON.stringify(response) };
}

/** The id of a request, also of one that is otherwise invalid; null where there is none. */
export function idOf(request: unknown): JSONRPCID {
  const id = typeof request === "object" && request !== null && "id" in request ? request.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
