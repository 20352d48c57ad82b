import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type EventStore,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type RequestStateCodec,
  SdkError,
  SdkErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
  type Transport,
} from "@modelcontextprotocol/server";
import { JSONRPCErrorException } from "json-rpc-2.0";
import { z } from "zod";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { parsedJson } from "#shared/lib/text.ts";
import {
  type CallerAnswer,
  type CallerInput,
  type CallerQuestion,
  type InputNeeded,
  isInputNeeded,
} from "#shared/rpc/jsonrpc/caller-input.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { INVALID_PARAMS } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { invalidArguments, type McpSurface, showsApps } from "./methods.ts";

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

/**
 * The ways to ask clients: in a session by a request of the server, and in the stateless revision 2026-07-28 by a result that the client answers in
 * its next call. Clients without a session in a revision with sessions (`no session`) cannot be asked.
 */
export type Era = "session" | "no session" | "stateless";

/** The name of the only question of a round in `inputRequests` and `inputResponses`. */
const QUESTION_KEY = "answer";

/** Returns the questions that a client can answer, with its answer to the previous round. */
function inputOf(era: Era, server: Server, { mcpReq }: ServerContext): CallerInput {
  const declared = capabilitiesOf(era, server, mcpReq);
  const canBeAsked = era !== "no session";
  const state = era === "stateless" ? mcpReq.requestState() : undefined;
  return {
    canFillForms: canBeAsked && supportsForms(declared?.elicitation),
    canPrompt: canBeAsked && declared?.sampling !== undefined,
    // Without `inputResponses` the request is a repetition of the first round, and the question is asked again. With them, a missing answer has failed.
    answer: state === undefined || mcpReq.inputResponses === undefined ? null : answerOf(mcpReq.inputResponses),
    state: state ?? null,
  };
}

/** Returns the capabilities that a client declares: at the start of its session, or with each request of the stateless revision. */
function capabilitiesOf(
  era: Era,
  server: Server,
  { envelope = {} }: ServerContext["mcpReq"],
): ClientCapabilities | undefined {
  const declared: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = envelope;
  return era === "stateless" ? declared[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
}

/** Returns a question as a result of the stateless revision. `mint` signs the state. */
async function asResult(needed: InputNeeded, mint: (state: unknown) => Promise<string>): Promise<InputRequiredResult> {
  const { question, state, _meta } = needed;
  const request =
    question.kind === "form"
      ? inputRequired.elicit(formOf(question))
      : inputRequired.createMessage(messageFor(question));
  const result = inputRequired({ inputRequests: { [QUESTION_KEY]: request }, requestState: await mint(state) });
  return _meta ? { ...result, _meta: { ..._meta } } : result;
}

/** The conditions that end the wait for an answer in a session. */
interface AnswerLimits {
  readonly answerWithinMs: number;
  /** Aborted when the caller disconnects or cancels its request. */
  readonly abortSignal: AbortSignal;
}

/** Asks a client in a session. Resolves with its answer, or with a failed answer. Rejects only if `abortSignal` is aborted. */
async function ask(
  { question, onObsolete, _meta }: InputNeeded,
  { mcpReq }: ServerContext,
  { answerWithinMs, abortSignal }: AnswerLimits,
): Promise<CallerAnswer> {
  const obsolete = new AbortController();
  const stopWatching = onObsolete?.(() => obsolete.abort());
  const options = {
    timeout: answerWithinMs,
    resetTimeoutOnProgress: true,
    signal: AbortSignal.any([abortSignal, obsolete.signal]),
  };
  try {
    const metadata = _meta && { _meta: { ..._meta } };
    // Sent on the stream of the call: requestSampling would send it on the stream of GET, which a client need not open.
    if (question.kind === "prompt") {
      const params = { ...messageFor(question), ...metadata };
      return textOf(await mcpReq.send({ method: "sampling/createMessage", params }, options));
    }
    // elicitInput would reject an answer that does not fit the form. The tool decides about such an answer.
    const { action, content = {} } = await mcpReq.send(
      { method: "elicitation/create", params: { ...formOf(question), ...metadata } },
      options,
    );
    return { kind: "form", action, content };
  } catch (thrown) {
    if (abortSignal.aborted) throw thrown;
    if (obsolete.signal.aborted) return { kind: "failed", reason: "the question is obsolete" };
    const isLate = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout;
    return { kind: "failed", reason: isLate ? "the time limit was exceeded" : "the host answered with an error" };
  } finally {
    stopWatching?.();
  }
}

/** A client that declares no mode of elicitation supports forms only. */
const supportsForms = (elicitation: ClientCapabilities["elicitation"]): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);

function answerOf(responses: Parameters<typeof inputResponse>[0]): CallerAnswer {
  const answer = inputResponse(responses, QUESTION_KEY);
  switch (answer.kind) {
    case "elicit":
      return { kind: "form", action: answer.action, content: answer.content ?? {} };
    case "sampling":
      return textOf(answer.result);
    default:
      return { kind: "failed", reason: "the request contains no answer" };
  }
}

function textOf({ content }: { content?: unknown }): CallerAnswer {
  const blocks: readonly ({ type?: unknown; text?: unknown } | null)[] = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? block.text : []));
  return { kind: "text", text: texts.join("\n") };
}

const formOf = ({ message, fields }: Extract<CallerQuestion, { kind: "form" }>): ElicitRequestFormParams => ({
  mode: "form",
  message,
  requestedSchema: { type: "object", properties: fields, required: Object.keys(fields) } as never,
});

const messageFor = ({ system, text, maxTokens }: Extract<CallerQuestion, { kind: "prompt" }>) => ({
  systemPrompt: system,
  messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  maxTokens,
  includeContext: "none" as const,
});

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
function withReadableErrors<T extends Transport>(transport: T, caller?: HttpContext): T {
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

/** Returns a caller as the authentication information that the SDK passes on with each message. */
export const authOf = (http: HttpContext): AuthInfo => ({
  token: http.bearer ?? "",
  clientId: http.remoteAddress,
  scopes: [],
  extra: { http },
});

/** Returns the caller that was given to `authOf`. */
const httpOf = (auth: AuthInfo | undefined): HttpContext | undefined => auth?.extra?.http as HttpContext | undefined;

const Listen = z.object({
  method: z.literal("subscriptions/listen"),
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()) }) }),
});

/** Returns the URIs that a request of the stateless revision (2026-07-28) subscribes to; none for any other message. */
export const subscribedUris = (message: unknown): readonly string[] =>
  Listen.safeParse(message).data?.params.notifications.resourceSubscriptions ?? [];

/** The error message for a URI without a resource. */
export const unknownResource = (uri: string): string =>
  `Unknown resource: ${uri.slice(0, 200)}. See resources/list and resources/templates/list`;
