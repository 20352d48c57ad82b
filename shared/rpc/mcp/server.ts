import {
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
import type { HttpContext } from "../jsonrpc/http.ts";
import { isInputNeeded } from "../jsonrpc/input.ts";
import { httpOf } from "./auth.ts";
import { ask, asResult, capabilitiesOf, type Era, inputOf } from "./input.ts";
import { type McpSurface, showsApps, unfitArguments } from "./mcp.ts";
import { inWords } from "./wording.ts";

/** One method of a surface. Clients that come through the SDK bring a context, plain JSON-RPC has none. */
export type McpMethod = (params: unknown, http: HttpContext, context?: ServerContext) => unknown;

/** What is served at one endpoint, whichever way a caller comes in. */
export interface McpService {
  readonly serverInfo: McpSurface["serverInfo"];
  readonly instructions?: string | undefined;
  readonly methods: Readonly<Record<string, McpMethod>>;
  /** The tools that answer by themselves: they neither wait nor talk to the client meanwhile. */
  readonly direct: ReadonlySet<string>;
  /** Whether a client may subscribe to this URI. */
  readonly isSubscribable: (uri: string) => boolean;
  /** Signs the state between the rounds of a call. */
  readonly stateKey: string;
  /** What the SDK has to know besides: capabilities other than tools and resources, how request state is verified. */
  readonly options?: ServerOptions;
  /** A person may take this long over a form; whoever needs longer goes on in another call. */
  readonly answerWithinMs?: number | undefined;
  /** Keeps the events of one session for clients that reconnect; without it a broken stream is lost. */
  readonly eventStore?: () => EventStore;
}

const ANSWER_WITHIN_MS = 10 * 60_000;
/** Both limits together bound what a client that only subscribes can make this process keep. */
const MAX_SUBSCRIPTIONS = 256;
const URI_CHARACTERS = 300;

const AnyParams = z.looseObject({});
const Subscribed = z.object({ uri: z.string() });

/** Methods that the SDK leaves to the server, as far as a service has them. */
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

/** Whom a server serves: those of a session keep its subscriptions. */
interface Serving {
  readonly era: Era;
  readonly subscriptions: Set<string> | undefined;
  readonly states: RequestStateCodec;
}

/** An SDK server that answers with the plain router's methods. */
export function serverOf(
  {
    serverInfo,
    instructions,
    methods,
    isSubscribable,
    options,
    eventStore,
    answerWithinMs = ANSWER_WITHIN_MS,
  }: McpService,
  { era, subscriptions, states }: Serving,
  onError: (error: unknown) => void,
): Server {
  const capabilities = { tools: {}, resources: { subscribe: true }, ...options?.capabilities };
  const server = new Server(serverInfo, {
    requestState: { verify: states.verify },
    ...(instructions !== undefined && { instructions }),
    ...options,
    capabilities,
  });
  const connect = server.connect.bind(server);
  server.connect = (transport) => connect(inWords(transport));
  for (const name of METHODS) {
    const method = methods[name];
    if (!method) continue;
    const handle = async (params: unknown, context: ServerContext) => {
      const known = callerOf(context, eventStore !== undefined);
      const caller = { ...known, showsApps: showsApps(capabilitiesOf(era, server, context.mcpReq)) };
      try {
        // The SDK checks every answer against the protocol's own schema.
        return (await answered(method, params, caller, context)) as never;
      } catch (thrown) {
        const unfit = name === "tools/call" ? unfitArguments(thrown) : null;
        if (unfit) return unfit as never;
        const isTheirs = thrown instanceof JSONRPCErrorException || thrown instanceof ProtocolError;
        if (isTheirs || caller.gone().aborted) throw thrown;
        onError(thrown);
        throw new ProtocolError(ProtocolErrorCode.InternalError, "Internal error"); // the SDK would show the message
      }
    };
    // Params that do not fit are the method's to refuse, as they are in plain JSON-RPC: by the SDK's schemas they would be an internal error.
    if (name !== "tools/call") server.setRequestHandler(name, { params: AnyParams }, handle);
    else server.setRequestHandler(name, ({ params }: { params?: unknown }, context) => handle(params, context));
  }
  // In the stateless era the SDK answers an unknown method with HTTP 404, which the endpoint logs.
  if (era !== "modern") server.fallbackRequestHandler = refuseUnknown;
  /** A tool that asks first is called again with what was said. */
  async function answered(
    method: McpMethod,
    params: unknown,
    caller: ReturnType<typeof callerOf>,
    context: ServerContext,
  ): Promise<unknown> {
    for (let input = inputOf(era, server, context); ; ) {
      const result = await method(params, { ...caller, input }, context);
      if (typeof result !== "object" || result === null || !isInputNeeded(result)) return result;
      if (era === "modern") return asResult(result, (state) => states.mint(state));
      const said = await ask(result, context, { answerWithinMs, gone: caller.gone() });
      input = { ...input, said, state: result.state };
    }
  }
  server.setRequestHandler("resources/subscribe", { params: Subscribed }, ({ uri }, context) => {
    const reason = whyNotSubscribed(uri);
    if (reason !== null) refuse(context, ProtocolErrorCode.InvalidParams, reason, "resources/subscribe");
    subscriptions?.add(uri);
    return {};
  });
  function whyNotSubscribed(uri: string): string | null {
    if (uri.length > URI_CHARACTERS) return `No resource here has a URI of ${uri.length} characters`;
    if (!isSubscribable(uri)) return unknownResource(uri);
    const isFull = subscriptions && subscriptions.size >= MAX_SUBSCRIPTIONS && !subscriptions.has(uri);
    return isFull ? `No more than ${MAX_SUBSCRIPTIONS} subscriptions` : null;
  }
  server.setRequestHandler("resources/unsubscribe", { params: Subscribed }, ({ uri }) => {
    subscriptions?.delete(uri);
    return {};
  });
  return server;
}

const refuseUnknown: NonNullable<Server["fallbackRequestHandler"]> = async ({ method }, context) =>
  refuse(context, ProtocolErrorCode.MethodNotFound, "Method not found", method);

/** Logs a rejection and answers with it. */
function refuse(context: ServerContext, code: ProtocolErrorCode, reason: string, request: string): never {
  callerOf(context, false).logRejection?.({ code, reason, request });
  throw new ProtocolError(code, reason);
}

export const unknownResource = (uri: string): string =>
  `Unknown resource: ${uri.slice(0, 200)}. See resources/list and resources/templates/list`;

/** A caller whose connection has gone is given up, unless it can resume its stream. */
function callerOf(
  { http, mcpReq, sessionId }: ServerContext,
  isResumable: boolean,
): HttpContext & { readonly gone: () => AbortSignal } {
  const { token = "", clientId = "" } = http?.authInfo ?? {};
  const asked = httpOf(http?.authInfo);
  const gone = isResumable ? undefined : asked?.gone?.();
  const signal = gone ? AbortSignal.any([mcpReq.signal, gone]) : mcpReq.signal;
  const progressToken = mcpReq._meta?.progressToken;
  const tell = (progress: number, total: number, message: string): void => {
    const params = { progressToken: progressToken ?? "", progress, total, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // it has gone
  };
  return {
    bearer: token === "" ? null : token,
    remoteAddress: clientId,
    isMcpClient: true,
    ...(sessionId !== undefined && { sessionId }),
    gone: () => signal,
    ...(progressToken !== undefined && { progress: tell }),
    logRejection: asked?.logRejection,
  };
}
