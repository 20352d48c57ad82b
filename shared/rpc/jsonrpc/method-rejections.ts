import { JSONRPCErrorException } from "json-rpc-2.0";
import { z } from "zod";
import type { FieldFault } from "../../protocol/envelope.ts";
import type { HttpContext } from "./http-context.ts";
import type { Method } from "./json-rpc.ts";
import type { RejectedRequest } from "./rejection-log.ts";

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
