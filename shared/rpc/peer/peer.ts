import { createJSONRPCRequest } from "json-rpc-2.0";
import type { Clock } from "../../lib/clock.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Envelope } from "../../protocol/envelope.ts";
import { envelopeIn, is2xx } from "./answer.ts";
import { type Batches, createBatches } from "./batch.ts";
import { connectionFault } from "./connection-fault.ts";
import { exchange, type Target } from "./exchange.ts";
import type { CallFault, CallOptions, RawReply } from "./pending.ts";
import { createTargets, type OpenPool, type Targets } from "./targets.ts";

/**
 * Calls other agents' `POST /mcp`; the only client in the house. Follows no redirects. Whatever the other side does is a value; `message` and
 * `isAlive` reject when this machine lacked something (files, memory, ports) until the call's time was over: that is no fault of the peer.
 */
export interface Peers {
  /** Sends an envelope to `league_message`; the reply must be an envelope, which may be a LEAGUE_ERROR or GAME_ERROR. */
  message(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<Envelope, CallFault>>;
  /** Sends an envelope whose answer is not read: any 2xx will do. */
  notify(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<null, CallFault>>;
  /** Whether `GET url` answers 2xx in time; false as soon as `signal` is aborted. */
  isAlive(url: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Whether anything answers `GET url` in time, with any status; false as soon as `signal` is aborted. */
  isListening(url: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;
const LACK_PAUSE_MS = 100;

/** What the calls of one process share. */
interface Client {
  readonly clock: Clock;
  readonly targets: Targets;
  readonly inBatch: Batches;
  /** Ends pauses and new calls. */
  readonly closed: AbortController;
  lastId: number;
}

/** `openPool` replaces the connections of undici, for a simulated network. */
export function createPeers({ clock, openPool }: { readonly clock: Clock; readonly openPool?: OpenPool }): Peers {
  const client: Client = {
    clock,
    targets: createTargets(clock, openPool),
    inBatch: createBatches(clock),
    closed: new AbortController(),
    lastId: 0,
  };
  return {
    message: (endpoint, envelope, options) => message(client, endpoint, envelope, options),
    notify: (endpoint, envelope, options) => notify(client, endpoint, envelope, options),
    async isAlive(url, timeoutMs, signal) {
      const reply = await get(client, url, timeoutMs, signal);
      return reply.ok && is2xx(reply.value);
    },
    async isListening(url, timeoutMs, signal) {
      const reply = await get(client, url, timeoutMs, signal).catch(() => null);
      return reply?.ok ?? false;
    },
    async close() {
      client.closed.abort();
      await client.targets.close();
    },
  };
}

async function message(
  client: Client,
  endpoint: string,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<Envelope, CallFault>> {
  if (client.closed.signal.aborted) return refused("closed");
  const id = ++client.lastId;
  const reply = await post(client, endpoint, id, envelope, options);
  if (!reply.ok) return reply;
  return envelopeIn(reply.value, id, envelope.message_id);
}

async function notify(
  client: Client,
  endpoint: string,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<null, CallFault>> {
  if (client.closed.signal.aborted) return refused("closed");
  let reply: Result<RawReply, CallFault>;
  try {
    reply = await post(client, endpoint, ++client.lastId, envelope, options);
  } catch (thrown) {
    return asRefused(thrown); // a notification that could not be sent is no fault of the peer
  }
  if (!reply.ok || is2xx(reply.value)) return reply.ok ? ok(null) : reply;
  const { status } = reply.value;
  return err({ cause: "http_error", detail: `HTTP ${status}`, status });
}

function post(
  { clock, targets, inBatch, closed }: Client,
  endpoint: string,
  id: number,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<RawReply, CallFault>> {
  if (!targets.of(endpoint)) return noHttpUrl(endpoint);
  const begun = clock.monotonic();
  const params = { name: "league_message", arguments: envelope };
  const body = JSON.stringify(createJSONRPCRequest(id, "tools/call", params));
  const once: SendOnce = (withOptions) => {
    // Anew for each try: connections that were idle while this call waited have been closed.
    const target = targets.of(endpoint) as Target;
    return options.batch ? inBatch(target, id, body, withOptions) : exchange(target, "POST", body, withOptions, clock);
  };
  const sent = options.retry ? persistently(once, options, clock, closed.signal) : once(options);
  return sent.catch((thrown) => {
    const timeoutMs = begun + options.timeoutMs - clock.monotonic();
    return patiently(thrown, once, { ...options, timeoutMs }, clock, closed.signal);
  });
}

async function get(
  { clock, targets, closed }: Client,
  url: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result<RawReply, CallFault>> {
  const target = targets.of(url);
  if (!target || closed.signal.aborted) return refused("closed, or not an http URL");
  return exchange(target, "GET", null, signal ? { timeoutMs, signal } : { timeoutMs }, clock);
}

/** What this machine lacked as a refused call, for callers that call again and count no fault. */
export const asRefused = (thrown: unknown): Result<never, CallFault> => err(connectionFault(thrown));

const noHttpUrl = async (endpoint: string) =>
  err({
    cause: "refused",
    detail: "the endpoint is not an http URL",
    systemMessage: `not an http URL: ${endpoint.slice(0, 200)}`,
  } as const);

const refused = async (detail: string) => err({ cause: "refused", detail } as const);

type SendOnce = (options: CallOptions) => Promise<Result<RawReply, CallFault>>;

/** Repeats a refused call with growing pauses inside one deadline. */
async function persistently(
  once: SendOnce,
  options: CallOptions,
  clock: Clock,
  closed: AbortSignal,
): Promise<Result<RawReply, CallFault>> {
  const deadline = clock.monotonic() + options.timeoutMs;
  let result = await once(options);
  for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_RETRY_MS)) {
    if (result.ok || result.error.cause !== "refused" || closed.aborted) return result;
    if (deadline - clock.monotonic() <= pauseMs) return result;
    const signals = options.signal ? [closed, options.signal] : [closed];
    if (!(await clock.pause(pauseMs, AbortSignal.any(signals)))) return result;
    const timeoutMs = Math.max(1, deadline - clock.monotonic());
    result = await once({ ...options, timeoutMs });
  }
}

/** Repeats a call for which this machine lacked something (files, memory, ports) until its time is over, and only then rejects. */
async function patiently(
  lack: unknown,
  once: SendOnce,
  options: CallOptions,
  clock: Clock,
  closed: AbortSignal,
): Promise<Result<RawReply, CallFault>> {
  const deadline = clock.monotonic() + options.timeoutMs;
  const signal = options.signal ? AbortSignal.any([closed, options.signal]) : closed;
  for (let thrown = lack; ; ) {
    if (deadline - clock.monotonic() <= LACK_PAUSE_MS || !(await clock.pause(LACK_PAUSE_MS, signal))) throw thrown;
    try {
      return await once({ ...options, timeoutMs: Math.max(1, deadline - clock.monotonic()) });
    } catch (again) {
      thrown = again;
    }
  }
}
