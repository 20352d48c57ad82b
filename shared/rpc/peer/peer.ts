import { createJSONRPCRequest } from "json-rpc-2.0";
import type { Clock } from "../../lib/clock.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Envelope } from "../../protocol/envelope.ts";
import { type OpenSocket, openSocket } from "../websocket/open-socket.ts";
import { envelopeIn, is2xx } from "./answer.ts";
import { type Arrival, createArrival } from "./arrival.ts";
import {
  CANCELLED,
  Call,
  type CallFault,
  type CallOptions,
  type RawReply,
  type Request,
  type Transport,
} from "./call.ts";
import { connectionFault } from "./connection-fault.ts";
import { createHttpTransport } from "./http-transport.ts";
import { sendWithRetries } from "./retry.ts";
import { createSocketTransport } from "./socket-transport.ts";
import { createTargets, type OpenPool } from "./targets.ts";

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
