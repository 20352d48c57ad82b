import {
  createRequestStateCodec,
  type EventStore,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  Server,
  type ServerContext,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import { JSONRPCErrorException } from "json-rpc-2.0";
import { z } from "zod";
import { isInputNeeded } from "../jsonrpc/caller-input.ts";
import type { HttpContext } from "../jsonrpc/http-context.ts";
import { httpOf } from "./caller-auth.ts";
import { ask, asResult, capabilitiesOf, type Era, inputOf } from "./input.ts";
import { invalidArguments, type McpSurface, showsApps } from "./mcp.ts";
import { unknownResource } from "./subscriptions.ts";
import { withReadableErrors } from "./transport-errors.ts";

/** A method of a service. `context` is present for calls through the SDK, and absent for plain JSON-RPC. */
export type McpMethod = (params: unknown, http: HttpContext, context?: ServerContext) => unknown;

/** The MCP service of an endpoint, for plain JSON-RPC and for the SDK. */
export interface McpService {
  readonly serverInfo: McpSurface["serverInfo"];
  readonly instructions?: string | undefined;
  readonly methods: Readonly<Record<string, McpMethod>>;
  /** The names of the tools that answer without waiting and without messages to the client. */
  readonly direct: ReadonlySet<string>;
  /** Returns whether a client may subscribe to a URI. */
  readonly isSubscribable: (uri: string) => boolean;
  /** Called when a client subscribes to a resource. */
  readonly onSubscribe?: (uri: string) => void;
  /** The key that signs the state between the rounds of a call. */
  readonly stateKey: string;
  /** The beginning of the ids of sessions; empty by default. */
  readonly sessionPrefix?: string | undefined;
  /** Further options of the SDK: capabilities other than tools and resources, the verification of request state. */
  readonly options?: ServerOptions;
  /** The time limit for the answer to a form, in milliseconds. A later answer needs another call. */
  readonly answerWithinMs?: number | undefined;
  /** Returns a store for the events of a session, for clients that resume a stream. Without it, streams cannot be resumed. */
  readonly eventStore?: () => EventStore;
}

const ANSWER_WITHIN_MS = 10 * 60_000;
/** The lifetime of the state between the rounds of a call. A player can continue an interrupted game weeks later. */
const STATE_TTL_S = 30 * 24 * 3600;
/** This limit and the next one bound the memory for the subscriptions of a client. */
const MAX_SUBSCRIPTIONS = 256;
const URI_CHARACTERS = 300;

const AnyParams = z.looseObject({});
const Subscribed = z.object({ uri: z.string() });

/** The methods that are registered at the SDK's server if the service has them. */
const METHODS = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
] as const;

/** Signs and verifies the state that the client sends back between the rounds of a call. */
export const requestStates = ({ stateKey }: Pick<McpService, "stateKey">): RequestStateCodec =>
  createRequestStateCodec({ key: stateKey, ttlSeconds: STATE_TTL_S });

/** The client of a server. */
interface Client {
  readonly era: Era;
  /** The URIs that the client of a session has subscribed to. */
  readonly subscriptions: Set<string> | undefined;
  readonly states: RequestStateCodec;
  /** The caller, if the transport is not HTTP. */
  readonly caller?: HttpContext;
}

/** One server of the SDK: the service, its client, and the receiver of internal errors. */
interface Serving extends Client {
  readonly server: Server;
  readonly service: McpService;
  readonly onError: (error: unknown) => void;
}

/** Returns an SDK server that answers with the methods of the plain router. `onError` receives internal errors. */
export function serverOf(service: McpService, client: Client, onError: (error: unknown) => void): Server {
  const { serverInfo, instructions, methods, options } = service;
  const server = new Server(serverInfo, {
    requestState: { verify: client.states.verify },
    ...(instructions !== undefined && { instructions }),
    ...options,
    capabilities: { tools: {}, resources: { subscribe: true }, ...options?.capabilities },
  });
  const serving: Serving = { ...client, server, service, onError };
  const connect = server.connect.bind(server);
  server.connect = (transport) => connect(withReadableErrors(transport, client.caller));
  for (const name of METHODS) {
    const method = methods[name];
    if (method) addMethod(serving, name, method);
  }
  // In the stateless revision the SDK answers an unknown method with HTTP 404, which the endpoint logs.
  if (client.era !== "stateless") {
    server.fallbackRequestHandler = async ({ method }, context) =>
      reject(serving, context, ProtocolErrorCode.MethodNotFound, "Method not found", method);
  }
  server.setRequestHandler("resources/subscribe", { params: Subscribed }, ({ uri }, context) => {
    const reason = whyNotSubscribed(serving, uri);
    if (reason !== null) reject(serving, context, ProtocolErrorCode.InvalidParams, reason, "resources/subscribe");
    client.subscriptions?.add(uri);
    service.onSubscribe?.(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", { params: Subscribed }, ({ uri }) => {
    client.subscriptions?.delete(uri);
    return {};
  });
  return server;
}

function addMethod(serving: Serving, name: (typeof METHODS)[number], method: McpMethod): void {
  const { era, server, onError } = serving;
  const handle = async (params: unknown, context: ServerContext) => {
    const caller = {
      ...callerOf(serving, context),
      showsApps: showsApps(capabilitiesOf(era, server, context.mcpReq)),
    };
    try {
      // The SDK checks every answer against the schema of the protocol.
      return (await callMethod(serving, method, params, caller, context)) as never;
    } catch (thrown) {
      const rejection = name === "tools/call" ? invalidArguments(thrown) : null;
      if (rejection) return rejection as never;
      const isRejection = thrown instanceof JSONRPCErrorException || thrown instanceof ProtocolError;
      if (isRejection || caller.abortSignal().aborted) throw thrown;
      onError(thrown);
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Internal error"); // the SDK would send the message of `thrown`
    }
  };
  // The method itself rejects invalid params, as in plain JSON-RPC: the schemas of the SDK would report an internal error.
  if (name !== "tools/call") server.setRequestHandler(name, { params: AnyParams }, handle);
  else server.setRequestHandler(name, ({ params }: { params?: unknown }, context) => handle(params, context));
}

type Caller = HttpContext & { readonly abortSignal: () => AbortSignal };

/** Calls a method. If a tool asks a question, it is called again with the answer. */
async function callMethod(
  { service: { answerWithinMs = ANSWER_WITHIN_MS }, server, era, states }: Serving,
  method: McpMethod,
  params: unknown,
  caller: Caller,
  context: ServerContext,
): Promise<unknown> {
  for (let input = inputOf(era, server, context); ; ) {
    const result = await method(params, { ...caller, input }, context);
    if (typeof result !== "object" || result === null || !isInputNeeded(result)) return result;
    if (era === "stateless") return asResult(result, (state) => states.mint(state));
    const callerAnswer = await ask(result, context, { answerWithinMs, abortSignal: caller.abortSignal() });
    input = { ...input, answer: callerAnswer, state: result.state };
  }
}

/** The reason why a URI cannot be subscribed to; null if it can. */
function whyNotSubscribed({ service, subscriptions }: Serving, uri: string): string | null {
  if (uri.length > URI_CHARACTERS)
    return `The URI has ${uri.length} characters; a URI of this server has at most ${URI_CHARACTERS}`;
  if (!service.isSubscribable(uri)) return unknownResource(uri);
  const isFull = subscriptions && subscriptions.size >= MAX_SUBSCRIPTIONS && !subscriptions.has(uri);
  return isFull ? `The session has ${MAX_SUBSCRIPTIONS} subscriptions, the maximum: cancel one first` : null;
}

/** Logs a rejection and throws it as the error of the request. */
function reject(
  serving: Serving,
  context: ServerContext,
  code: ProtocolErrorCode,
  reason: string,
  request: string,
): never {
  callerOf(serving, context).logRejection?.({ code, reason, request });
  throw new ProtocolError(code, reason);
}

/** Returns the caller of a request. Its signal is aborted when its connection closes, unless it can resume its stream. */
function callerOf({ service, caller }: Serving, { http, mcpReq, sessionId }: ServerContext): Caller {
  const known = httpOf(http?.authInfo) ?? caller;
  const closed = service.eventStore ? undefined : known?.abortSignal?.();
  const signal = closed ? AbortSignal.any([mcpReq.signal, closed]) : mcpReq.signal;
  const progressToken = mcpReq._meta?.progressToken;
  const notify = (progress: number, total: number, message: string): void => {
    const params = { progressToken: progressToken ?? "", progress, total, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // the caller has disconnected
  };
  return {
    bearer: known?.bearer ?? null,
    remoteAddress: known?.remoteAddress ?? "",
    isMcpClient: true,
    ...(known?.isCrossOrigin && { isCrossOrigin: true as const }),
    ...(sessionId !== undefined && { sessionId }),
    abortSignal: () => signal,
    ...(progressToken !== undefined && { progress: notify }),
    logRejection: known?.logRejection,
  };
}
