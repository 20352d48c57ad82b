import { createJSONRPCRequest, isJSONRPCResponse } from "json-rpc-2.0";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { asText, jsonOf, parsedJson } from "#shared/lib/text.ts";
import { Envelope, faultOfSender, faultsText } from "#shared/protocol/envelope.ts";
import { type OpenSocket, openSocket } from "#shared/rpc/websocket/websocket.ts";
import { type Arrival, createArrival } from "./arrival.ts";
import {
  CANCELLED,
  Call,
  type CallFault,
  type CallOptions,
  connectionFault,
  parsed,
  RAW_LIMIT,
  type RawReply,
  type Request,
  type Transport,
} from "./call.ts";
import { createHttpTransport, createTargets, type OpenPool } from "./http-transport.ts";
import { createSocketTransport } from "./socket-transport.ts";

/**
 * The client for the endpoints of other agents. It follows no redirects. A failure of the called agent is a value. `message` and `probe`
 * reject if this machine has a shortage of files, memory or ports, which is not a fault of the called agent; `message` repeats the call until its
 * time limit first.
 */
export interface Peers {
  /** Calls `league_message` with an envelope. Resolves with the envelope of the answer, which may be a LEAGUE_ERROR or GAME_ERROR, or with a fault. */
  message(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<Envelope, CallFault>>;
  /** Calls `league_message` with an envelope and does not read the answer: every status from 200 to 299 is a success. Never rejects. */
  notify(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<null, CallFault>>;
  /**
   * Posts a JSON text and resolves with the response, whatever its status, or with a fault of the connection. For agents that speak another
   * dialect, whose JSON-RPC calls and answers the caller builds and reads. Repeats and rejects as `message` does.
   */
  post(endpoint: string, body: string, options: Omit<CallOptions, "socket">): Promise<Result<RawReply, CallFault>>;
  /** Sends `GET url` and resolves with what the answer shows. Resolves with `silent` as soon as `signal` is aborted. */
  probe(url: string, timeoutMs: number, signal?: AbortSignal): Promise<ProbeResult>;
  /** Whether `GET url` is answered with any status within `timeoutMs`. Resolves with false as soon as `signal` is aborted. Never rejects. */
  isListening(url: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Sends `GET url`, once, and resolves with the response, whatever its status, or with a fault. Never rejects. */
  get(url: string, timeoutMs: number, signal?: AbortSignal): Promise<Result<RawReply, CallFault>>;
  /** Closes all connections and WebSockets. Calls under way and later calls fail with the cause `refused`. */
  close(): Promise<void>;
}

/** `alive`: a status from 200 to 299 within the time limit. `refused`: no program listens there. `silent`: everything else. */
export type ProbeResult = "alive" | "refused" | "silent";

/** The state that all calls of a process share. */
interface Client {
  readonly clock: Clock;
  readonly http: Transport;
  readonly sockets: Transport;
  readonly arrival: Arrival;
  /** Aborted by `close`: ends pauses and rejects new calls. */
  readonly closed: AbortController;
  lastId: number;
}

interface PeersOptions {
  readonly clock: Clock;
  /** Replaces the connections of undici in a simulated network. */
  readonly openPool?: OpenPool;
  /** Replaces the WebSockets of `ws` in a simulated network. */
  readonly openSocket?: OpenSocket;
}

/** Creates a client. */
export function createPeers({ clock, openPool, openSocket: open = openSocket }: PeersOptions): Peers {
  const http = createHttpTransport(createTargets(clock, openPool));
  const sockets = createSocketTransport({ clock, open, fallback: http });
  const shared = { clock, http, sockets, arrival: createArrival(clock), closed: new AbortController() };
  const client: Client = { ...shared, lastId: 0 };
  return {
    message: (endpoint, envelope, options) => message(client, endpoint, envelope, options),
    notify: (endpoint, envelope, options) => notify(client, endpoint, envelope, options),
    post: (endpoint, body, options) => send(client, { endpoint, method: "POST", body, id: 0 }, options),
    async probe(url, timeoutMs, signal) {
      const reply = await get(client, url, timeoutMs, signal);
      if (!reply.ok) return reply.error.isNothingListening ? "refused" : "silent";
      return is2xx(reply.value) ? "alive" : "silent";
    },
    async isListening(url, timeoutMs, signal) {
      const reply = await get(client, url, timeoutMs, signal).catch(asRefused);
      return reply.ok;
    },
    get: (url, timeoutMs, signal) => get(client, url, timeoutMs, signal).catch(asRefused),
    async close() {
      client.closed.abort();
      await Promise.all([client.sockets.close(), client.http.close()]);
    },
  };
}

async function message(
  client: Client,
  endpoint: string,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<Envelope, CallFault>> {
  const request = requestOf(client, endpoint, envelope);
  const reply = await send(client, request, options);
  return reply.ok ? envelopeIn(reply.value, request.id, envelope.message_id) : reply;
}

async function notify(
  client: Client,
  endpoint: string,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<null, CallFault>> {
  const reply = await send(client, requestOf(client, endpoint, envelope), options).catch(asRefused);
  if (!reply.ok) return reply;
  const { status } = reply.value;
  return is2xx(reply.value) ? ok(null) : err({ cause: "http_error", detail: `HTTP ${status}`, status });
}

/** Returns the call of `league_message` with an envelope. */
function requestOf(client: Client, endpoint: string, envelope: Envelope): Request {
  const id = ++client.lastId;
  const params = { name: "league_message", arguments: envelope };
  return { endpoint, method: "POST", body: JSON.stringify(createJSONRPCRequest(id, "tools/call", params)), id };
}

/** Sends a request, and repeats it as its options and a shortage of this machine require. */
async function send(client: Client, request: Request, options: CallOptions): Promise<Result<RawReply, CallFault>> {
  const { clock, closed } = client;
  if (closed.signal.aborted) return CLOSED;
  return sendWithRetries((withOptions) => sendOnce(client, request, withOptions), options, clock, closed.signal);
}

const sendOnce = ({ clock, http, sockets, arrival }: Client, request: Request, options: CallOptions) =>
  new Promise<Result<RawReply, CallFault>>((resolve, reject) => {
    if (options.signal?.aborted) return resolve(CANCELLED);
    const sentAtMs = clock.monotonic();
    const settle = (result: Result<RawReply, CallFault>): void => {
      if (result.ok) options.onResponse?.(clock.monotonic() - Math.max(sentAtMs, arrival.earliest()));
      resolve(result);
    };
    const transport = options.socket ? sockets : http;
    transport.send(request, new Call(options, clock, settle, reject));
  });

async function get(
  client: Client,
  url: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result<RawReply, CallFault>> {
  if (client.closed.signal.aborted) return CLOSED;
  const request = { endpoint: url, method: "GET", body: null, id: 0 } as const;
  return sendOnce(client, request, signal ? { timeoutMs, signal } : { timeoutMs });
}

/** Returns the fault of a call that rejected because of a shortage on this machine, for callers that repeat the call as after a refused connection. */
export const asRefused = (thrown: unknown): Result<never, CallFault> => err(connectionFault(thrown));

const CLOSED = err({ cause: "refused", detail: "the client is closed" } as const);

const ToolReply = z.compile(
  z.object({
    content: z.array(z.object({ type: z.string(), text: z.string().optional() })).optional(),
    structuredContent: z.unknown().optional(),
    isError: z.unknown().optional(),
  }),
);

/** Whether a reply has a status from 200 to 299. */
const is2xx = ({ status }: RawReply): boolean => status >= 200 && status < 300;

/**
 * Returns the envelope in the answer to the call with JSON-RPC id `id`, whose envelope had the id `messageId`. Answers are untrusted input: an
 * answer that cannot be read is a fault of its sender, never an exception.
 */
export function envelopeIn(answer: RawReply, id: number, messageId: string): Result<Envelope, CallFault> {
  try {
    const result = resultOf(answer, id);
    return result.ok ? envelopeOf(result.value, messageId) : result;
  } catch (thrown) {
    const raw = answer.text.slice(0, RAW_LIMIT);
    return err({ cause: "bad_reply", detail: `the answer cannot be read: ${messageOf(thrown)}`, raw });
  }
}

/** Returns the result in a JSON-RPC response, or the fault of a response without one. */
function resultOf(answer: RawReply, id: number): Result<unknown, CallFault> {
  const { status, text } = answer;
  const raw = text.slice(0, RAW_LIMIT);
  const ok2xx = is2xx(answer);
  const fault = (cause: CallFault["cause"], detail: string) =>
    err(ok2xx ? { cause, detail, raw } : { cause, detail, raw, status });
  const json = answer.json === undefined ? parsed(text) : answer.json;
  if (json === null) return ok2xx ? fault("bad_json", "the answer is not JSON") : fault("http_error", `HTTP ${status}`);
  const reply = json.value;
  if (reply === null || !isJSONRPCResponse(reply)) {
    return ok2xx ? fault("bad_reply", "the answer is not a JSON-RPC response") : fault("http_error", `HTTP ${status}`);
  }
  if (reply.error) {
    const { code, message, data } = reply.error;
    const rejectedFields = rejectedFieldsIn(data);
    const dataText = data === undefined ? "" : ` ${jsonOf(data).slice(0, 300)}`;
    const suffix = rejectedFields === null ? dataText : `; ${rejectedFields}`;
    const detail = `JSON-RPC error ${asText(code).slice(0, 20)}: ${asText(message).slice(0, 200)}${suffix}`;
    const failed = ok2xx ? fault("bad_reply", detail) : fault("http_error", `HTTP ${status}, ${detail}`);
    return rejectedFields === null ? failed : err({ ...failed.error, rejectedFields });
  }
  if (!ok2xx) return fault("http_error", `HTTP ${status}`);
  if (reply.id !== id) return fault("bad_reply", `the answer has id ${jsonOf(reply.id).slice(0, 200)}, not ${id}`);
  return ok(reply.result);
}

/** The `data` of a JSON-RPC error -32602 that an agent of this project sends. */
const FaultData = z.object({ faults: z.array(z.object({ path: z.string(), message: z.string() })).min(1) });

/** Returns the paths and messages of the rejected fields as one line; null if the error data has another form. */
function rejectedFieldsIn(data: unknown): string | null {
  const parsed = FaultData.safeParse(data);
  return parsed.success ? faultsText(parsed.data.faults) : null;
}

/** Returns the envelope in a tool result: the first text if it is JSON, otherwise the structured content. It must answer the message `messageId`. */
function envelopeOf(result: unknown, messageId: string): Result<Envelope, CallFault> {
  const fault = (cause: CallFault["cause"], detail: string) =>
    err({ cause, detail, raw: jsonOf(result).slice(0, RAW_LIMIT) });
  const tool = ToolReply.safeParse(result);
  if (!tool.success) return fault("bad_reply", "the answer is not a tool result");
  const text = tool.data.content?.find((part) => part.type === "text")?.text;
  const inText = text === undefined ? undefined : parsedJson(text);
  const value = inText === undefined ? tool.data.structuredContent : inText;
  if (text !== undefined && value === undefined) {
    if (tool.data.isError === true) return fault("bad_reply", toolError(text));
    return fault("bad_json", "the text of the answer is not JSON");
  }
  const envelope = Envelope.safeParse(value);
  if (!envelope.success && tool.data.isError === true) return fault("bad_reply", toolError(text ?? jsonOf(value)));
  if (!envelope.success) {
    const issue = envelope.error.issues[0];
    const reason = `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
    return fault("bad_reply", `the answer is not a league.v2 envelope: ${reason}`);
  }
  const { type, sender, correlation_id } = envelope.data;
  const wrongSender = faultOfSender(type, sender);
  if (wrongSender !== null) return fault("bad_reply", wrongSender);
  if (correlation_id != null && correlation_id !== messageId) {
    return fault(
      "bad_reply",
      `the answer's correlation_id is ${correlation_id}, and the message_id of the request is ${messageId}`,
    );
  }
  return ok(envelope.data);
}

const toolError = (text: string): string => `the tool reports an error: ${text.slice(0, 300)}`;

/** Sends a call once. Rejects only if this machine has a shortage of files, memory or ports. */
type SendOnce = (options: CallOptions) => Promise<Result<RawReply, CallFault>>;

/** The pauses before a refused call is repeated: the first one, doubled up to the longest one. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** The pause before a call is repeated after a shortage on this machine. */
const SHORTAGE_PAUSE_MS = 100;

/** The end of one attempt. */
type Attempt = { readonly result: Result<RawReply, CallFault> } | { readonly thrown: unknown };

/**
 * Sends a call and repeats it until its time limit, in two cases:
 * - Always after a shortage on this machine, because it is not a fault of the called agent. Rejects if it lasts until the time limit.
 * - With `options.retry` after a refused or lost connection, which a proxy reports with the status 502, 503 or 504. The called agent recognizes a
 *   repeated message by its message id.
 * Each attempt has the remaining time. `closed` ends the repetitions.
 */
async function sendWithRetries(
  once: SendOnce,
  options: CallOptions,
  clock: Clock,
  closed: AbortSignal,
): Promise<Result<RawReply, CallFault>> {
  const deadline = clock.monotonic() + options.timeoutMs;
  let attempt = await attemptOf(once, options);
  for (let pauseMs = FIRST_PAUSE_MS; ; ) {
    const isShortage = "thrown" in attempt;
    if (!("thrown" in attempt) && !(options.retry && isRefused(attempt.result))) break;
    const nextPauseMs = isShortage ? SHORTAGE_PAUSE_MS : pauseMs;
    if (closed.aborted || deadline - clock.monotonic() <= nextPauseMs) break;
    const signal = options.signal ? AbortSignal.any([closed, options.signal]) : closed;
    if (!(await clock.pause(nextPauseMs, signal))) break;
    if (!isShortage) pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    attempt = await attemptOf(once, { ...options, timeoutMs: Math.max(1, deadline - clock.monotonic()) });
  }
  if ("thrown" in attempt) throw attempt.thrown;
  return attempt.result;
}

const attemptOf = (once: SendOnce, options: CallOptions): Promise<Attempt> =>
  once(options).then(
    (result) => ({ result: options.retry ? withoutProxy(result) : result }),
    (thrown: unknown) => ({ thrown }),
  );

const isRefused = (result: Result<RawReply, CallFault>): boolean => !result.ok && result.error.cause === "refused";

/** Bad Gateway, Service Unavailable and Gateway Timeout: the answers of a proxy that cannot reach the server behind it. */
const PROXY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** Returns the answer of a proxy that cannot reach the agent as a refused connection. An answer in JSON-RPC comes from the agent and is returned unchanged. */
function withoutProxy(result: Result<RawReply, CallFault>): Result<RawReply, CallFault> {
  if (!result.ok || !PROXY_STATUSES.has(result.value.status)) return result;
  const { status, text, json = parsed(text) } = result.value;
  const value = json?.value;
  if (typeof value === "object" && value !== null && "jsonrpc" in value) return result;
  const detail = `HTTP ${status} without a JSON-RPC response, as from a proxy that cannot reach the agent`;
  return err({ cause: "refused", detail, raw: text.slice(0, RAW_LIMIT), status });
}
