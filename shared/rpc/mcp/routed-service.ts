import { JSONRPCErrorException } from "json-rpc-2.0";
import { messageOf } from "../../lib/result.ts";
import { rpcError } from "../jsonrpc/json-rpc.ts";
import type { McpMethod, McpService } from "./sdk-server.ts";

/** The part of another service that answers forwarded requests. */
export interface OtherService {
  readonly methods: McpService["methods"];
  /** Called when a client subscribes to a resource of this service. */
  readonly onSubscribe?: ((uri: string) => void) | undefined;
}

/** Resolves with the service of the game or resource that the parameters of a request name. Returns null if it is the service of this process. */
export type ServiceFor = (params: unknown) => Promise<OtherService> | null;

/** The code that MCP's SDKs use for a lost connection. */
export const NO_CONNECTION = -32000;

/**
 * Returns a service that forwards some of its requests to other services. If another service cannot be found or reached, the request is
 * answered with an error.
 */
export function routedService(service: McpService, serviceFor: ServiceFor): McpService {
  const routed =
    (name: string, method: McpMethod): McpMethod =>
    async (params, http, context) => {
      const other = serviceFor(params);
      if (other === null) return method(params, http, context);
      const found = await awaitService(other);
      return found.methods[name]?.(params, http, context);
    };
  const methods = Object.entries(service.methods).map(([name, method]) => [name, routed(name, method)] as const);
  return {
    ...service,
    methods: Object.fromEntries(methods),
    onSubscribe(uri) {
      // If the other service cannot be reached, it sends no notifications.
      serviceFor({ uri })?.then(
        ({ onSubscribe }) => onSubscribe?.(uri),
        () => {},
      );
    },
  };
}

async function awaitService(service: Promise<OtherService>): Promise<OtherService> {
  try {
    return await service;
  } catch (thrown) {
    throw thrown instanceof JSONRPCErrorException ? thrown : rpcError(NO_CONNECTION, messageOf(thrown));
  }
}
