import { type JSONRPCMessage, parseJSONRPCMessage, type Server, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { INVALID_PARAMS } from "#shared/rpc/jsonrpc/json-rpc.ts";
import {
  type McpService,
  requestStates,
  serverOf,
  subscribedUris,
  unknownResource,
} from "#shared/rpc/mcp/sdk-server.ts";
import type { Clock } from "../../lib/clock.ts";
import { type Stdio, StdioTransport } from "./stdio-transport.ts";

interface LocalServerOptions extends Stdio {
  readonly service: McpService;
  /** The caller that the methods of the service receive. */
  readonly http: HttpContext;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
}

/** The server of the client on stdio. */
interface LocalServer {
  /** Resolves when the client has disconnected. */
  readonly ended: Promise<void>;
  /** Notifies the client that a resource has changed, if it has subscribed to it. */
  notify(uri: string): void;
  close(): Promise<void>;
}

/** Serves an MCP service on two streams. The SDK determines the era by the client's first messages. */
export function serveLocally({ service, http, onError, ...stdio }: LocalServerOptions): LocalServer {
  const transport = new StdioTransport({ ...stdio, parse: parseJSONRPCMessage });
  const states = requestStates(service);
  const subscriptions = new Set<string>();
  let current: { readonly server: Server; readonly isStateless: boolean } | null = null;
  const connection = serveStdio(
    ({ era }) => {
      const isStateless = era === "modern";
      const server = serverOf(
        service,
        { era: isStateless ? "stateless" : "session", subscriptions, states, caller: http },
        onError,
      );
      server.oninitialized = () => subscriptions.clear(); // a client may initialize a second time
      current = { server, isStateless };
      return server;
    },
    { transport: withSubscriptionCheck(transport, service) },
  );
  return {
    ended: transport.ended,
    notify(uri) {
      // The SDK stores the subscriptions of the stateless revision.
      if (current && (current.isStateless || subscriptions.has(uri)))
        current.server.sendResourceUpdated({ uri }).catch(onError);
    },
    close: () => connection.close(),
  };
}

/** Rejects subscriptions of the stateless revision to unknown resources, because the SDK accepts every URI on stdio. */
function withSubscriptionCheck(
  transport: Transport,
  { isSubscribable, onSubscribe }: Pick<McpService, "isSubscribable" | "onSubscribe">,
): Transport {
  const checked: Transport = {
    start() {
      transport.onclose = () => checked.onclose?.();
      transport.onmessage = (message: JSONRPCMessage) => {
        const uris = subscribedUris(message);
        const unknown = uris.find((uri) => !isSubscribable(uri));
        if (unknown !== undefined && "id" in message && message.id !== undefined) {
          const error = { code: INVALID_PARAMS, message: unknownResource(unknown) };
          void transport.send({ jsonrpc: "2.0", id: message.id, error });
          return;
        }
        for (const uri of uris) onSubscribe?.(uri);
        checked.onmessage?.(message);
      };
      return transport.start();
    },
    send: (message) => transport.send(message),
    close: () => transport.close(),
  };
  return checked;
}
