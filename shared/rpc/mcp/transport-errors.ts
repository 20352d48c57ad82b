import type { AuthInfo, JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import { z } from "zod";
import { faultLine } from "../../lib/schema-messages.ts";
import { parsedJson } from "../../lib/text.ts";
import type { HttpContext } from "../jsonrpc/http-context.ts";
import { INVALID_PARAMS } from "../jsonrpc/json-rpc.ts";
import { httpOf } from "./caller-auth.ts";

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1);

/** A request that is not answered yet. */
interface Pending {
  readonly method: string;
  readonly logRejection: HttpContext["logRejection"];
}

/**
 * Rewrites the errors that a transport sends for requests that violate the schemas of the SDK, and logs them, because no method is called for
 * such a request. The message of the SDK is the JSON of the schema's fault, and its code for `initialize` is an internal error. Call it before
 * the server connects. `caller` is the caller of a transport without HTTP.
 */
export function withReadableErrors<T extends Transport>(transport: T, caller?: HttpContext): T {
  const pending = new Map<RequestId, Pending>();
  transport.onmessage = (message: JSONRPCMessage, extra?: { readonly authInfo?: AuthInfo }) => {
    if (!("method" in message)) return;
    if ("id" in message)
      pending.set(message.id, {
        method: message.method,
        logRejection: (httpOf(extra?.authInfo) ?? caller)?.logRejection,
      });
    // The SDK does not answer a cancelled request.
    else if (message.method === "notifications/cancelled") pending.delete(message.params?.requestId as RequestId);
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("method" in message || message.id === undefined) return send(message, options);
    const request = pending.get(message.id);
    pending.delete(message.id);
    const reason = "error" in message ? schemaFault(message.error.message) : null;
    if (reason === null) return send(message, options);
    if (request) request.logRejection?.({ code: INVALID_PARAMS, reason, request: request.method });
    return send({ ...message, error: { code: INVALID_PARAMS, message: reason } } as typeof message, options);
  };
  return transport;
}

/** Returns the faults in an error message of the SDK about invalid params as text for people; null for any other message. */
const schemaFault = (message: string): string | null =>
  message.startsWith("Invalid params for ") ? message : wordsOf(message);

/** Returns the faults in a message that ends with their JSON; null for any other message. */
function wordsOf(message: string): string | null {
  const start = message.search(/\[\s*\{/);
  const issues = start < 0 ? undefined : Issues.safeParse(parsedJson(message.slice(start))).data;
  if (!issues) return null;
  const lines = issues.map(({ path, message }) => {
    return faultLine({ path: path[0] === "params" ? path.slice(1) : path, message });
  });
  return `Invalid params: ${lines.join("; ")}`;
}
