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
import { parsedJson } from "#shared/lib/text.ts";
import { Unavailable } from "#shared/lib/unavailable.ts";
import type { FieldFault } from "#shared/protocol/envelope.ts";
import type { HttpContext, HttpReply } from "./http-context.ts";
import type { RejectedRequest } from "./rejection-log.ts";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const NO_REQUEST =
  'Invalid Request: the body is no JSON-RPC 2.0 request such as {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {…}}';
const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
/** A rate limit or a limit of open requests. */
export const TOO_MANY = -32000;

/** The HTTP status of a reply by its JSON-RPC error code (PROTOCOL.md, section 4). */
const httpStatus: Readonly<Record<number, number>> = {
  [PARSE_ERROR]: 400,
  [INVALID_REQUEST]: 400,
  [METHOD_NOT_FOUND]: 404,
  [INTERNAL_ERROR]: 500,
};

/** Returns the HTTP status of a reply with a JSON-RPC error. A message over a WebSocket has no status, but the same meaning. */
export const statusOf = (code: number): number => (code === TOO_MANY ? 429 : (httpStatus[code] ?? 200));

/** The largest number of requests in a batch. */
export const MAX_BATCH = 100;

const Request = z.compile(
  z.object({
    jsonrpc: z.literal("2.0"),
    method: z.string(),
    params: z.custom<object>((value) => typeof value === "object" && value !== null).optional(),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
  }),
);

/** The implementation of a JSON-RPC method. Returns or resolves with its result; throws an `rpcError` to reject the call. */
export type Method = (params: unknown, http: HttpContext) => unknown;

/** Creates an error with a JSON-RPC code. The caller receives its code, its message, and `data` as `error.data`. */
export const rpcError = (code: number, message: string, data?: unknown): Error =>
  new JSONRPCErrorException(message, code, data);

interface JsonRpc {
  /** Answers one request body: a single request or a batch. Never rejects. */
  answer(text: string, http: HttpContext): Promise<HttpReply>;
}

/**
 * Creates a JSON-RPC 2.0 server for named methods. An `rpcError` that a method throws is sent to the caller. Any other error is passed to
 * `onInternalError`, and the caller receives "Internal error", or the message of an `Unavailable`. `answerForeign` answers requests that are in another dialect of the league's protocol; it returns null
 * for all others.
 */
export function jsonRpc(
  methods: Readonly<Record<string, Method>>,
  onInternalError: (error: unknown) => void,
  answerForeign: (request: unknown, http: HttpContext) => Promise<HttpReply> | null = () => null,
): JsonRpc {
  const reportInternal = (error: unknown): void => {
    if (!(error instanceof JSONRPCErrorException)) onInternalError(error);
  };
  const server = new JSONRPCServer<HttpContext>({ errorListener: (_message, error) => reportInternal(error) });
  for (const [name, method] of Object.entries(methods)) server.addMethod(name, method);
  server.mapErrorToJSONRPCErrorResponse = (id: JSONRPCID, error: unknown): JSONRPCErrorResponse =>
    error instanceof JSONRPCErrorException
      ? createJSONRPCErrorResponse(id, error.code, error.message, error.data)
      : internalError(id, error);

  const single = async (request: unknown, http: HttpContext): Promise<HttpReply> => {
    const foreign = answerForeign(request, http);
    if (foreign !== null) return foreign.catch((thrown) => internalFailure(request, thrown));
    const parsed = Request.safeParse(request);
    if (!parsed.success) return reject(http, idOf(request), INVALID_REQUEST, NO_REQUEST);
    const response = await server.receive(parsed.data as JSONRPCRequest, http);
    if (response?.error?.code === METHOD_NOT_FOUND) {
      const { code, message: reason } = response.error;
      http.logRejection?.({ code, reason, request: parsed.data.method });
    }
    try {
      return reply(response);
    } catch (thrown) {
      reportInternal(thrown); // the result cannot be written as JSON
      return reply(internalError(response?.id ?? null, thrown));
    }
  };

  const internalFailure = (request: unknown, thrown: unknown): HttpReply => {
    reportInternal(thrown);
    return reply(internalError(idOf(request), thrown));
  };

  return {
    async answer(text, http) {
      const message = parsedJson(text);
      if (message === undefined) return reject(http, null, PARSE_ERROR, "Parse error");
      if (!Array.isArray(message)) return single(message, http);
      if (message.length === 0 || message.length > MAX_BATCH) {
        const reason = `Invalid Request: a batch contains 1 to ${MAX_BATCH} requests`;
        return reject(http, null, INVALID_REQUEST, reason);
      }
      return batch(await Promise.all(message.map((request) => single(request, http))));
    },
  };
}

/** Returns the answer to a batch: an array with the answers to the requests, or no body if all of them were notifications. */
function batch(replies: readonly HttpReply[]): HttpReply {
  const bodies = replies.map(({ body }) => body).filter((body) => body !== "");
  return bodies.length === 0 ? { status: 202, body: "" } : { status: 200, body: `[${bodies.join()}]` };
}

/** Logs and answers a request that is not valid JSON-RPC. */
function reject(http: HttpContext, id: JSONRPCID, code: number, reason: string): HttpReply {
  http.logRejection?.({ code, reason, request: "POST /mcp" });
  return reply(createJSONRPCErrorResponse(id, code, reason));
}

const internalError = (id: JSONRPCID, thrown: unknown): JSONRPCErrorResponse =>
  createJSONRPCErrorResponse(
    id,
    INTERNAL_ERROR,
    thrown instanceof Unavailable ? `${thrown.message}; try again later` : "Internal error",
  );

function reply(response: JSONRPCResponse | null): HttpReply {
  if (response === null) return { status: 202, body: "" };
  const status = response.error ? (httpStatus[response.error.code] ?? 200) : 200;
  return { status, body: JSON.stringify(response) };
}

/** Returns the id of a request, which may be otherwise invalid; null if it has no valid id. */
export function idOf(request: unknown): JSONRPCID {
  const id = typeof request === "object" && request !== null && "id" in request ? request.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** Returns the methods with a log of their rejections, for callers of every transport. */
export function withRejections(methods: Readonly<Record<string, Method>>): Readonly<Record<string, Method>> {
  const logged = (name: string, method: Method): Method => {
    return async (params: unknown, http: HttpContext) => {
      try {
        return await method(params, http);
      } catch (thrown) {
        if (thrown instanceof JSONRPCErrorException) http.logRejection?.(rejectionOf(thrown, name, params));
        throw thrown;
      }
    };
  };
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, logged(name, method)]));
}

const text = z.string().optional().catch(undefined);
/** The part of a tool call that is logged. Other parts of the call may be invalid. */
const LoggedCall = z.object({
  name: z.string(),
  arguments: z.object({ type: text, sender: text }).optional().catch(undefined),
});

function rejectionOf({ code, message, data }: JSONRPCErrorException, method: string, params: unknown): RejectedRequest {
  const call = LoggedCall.safeParse(params).data;
  const faults = (data as { faults?: readonly FieldFault[] } | undefined)?.faults ?? [];
  const reason = [message, ...faults.map((fault) => `${fault.path}: ${fault.message}`)].join("; ");
  const request = call ? `${method} ${call.name} ${call.arguments?.type ?? ""}`.trimEnd() : method;
  return { code, reason, agent: call?.arguments?.sender ?? null, request };
}
