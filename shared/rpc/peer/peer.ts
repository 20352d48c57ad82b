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
 * The HTTP client for the endpoints of other agents. It follows no redirects. A failure of the called agent is a value. `message` and `isAlive`
 * reject if this machine has a shortage of files, memory or ports, which is not a fault of the called agent; `message` repeats the call until its
 * time limit first.
 */
export interface Peers {
  /** Calls `league_message` with an envelope. Resolves with the envelope of the answer, which may be a LEAGUE_ERROR or GAME_ERROR, or with a fault. */
  message(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<Envelope, CallFault>>;
  /** Calls `league_message` with an envelope and does not read the answer: every status from 200 to 299 is a success. Never rejects. */
  notify(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<null, CallFault>>;
  /** Whether `GET url` is answered with a status from 200 to 299 within `timeoutMs`. Resolves with false as soon as `signal` is aborted. */
  isAlive(url: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Whether `GET url` is answered with any status within `timeoutMs`. Resolves with false as soon as `signal` is aborted. Never rejects. */
  isListening(url: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Closes all connections. Calls under way and later calls fail with the cause `refused`. */
  close(): Promise<void>;
}

/** The pauses before a refused call is repeated: the first one, doubled up to the longest one. */
const FIRST_RETRY_PAUSE_MS = 50;
const MAX_RETRY_PAUSE_MS = 1_000;
/** The pause before a call is repeated after a shortage on this machine. */
const SHORTAGE_PAUSE_MS = 100;

/** The state that all calls of a process share. */
interface Client {
  readonly clock: Clock;
  readonly targets: Targets;
  readonly sendInBatch: Batches;
  /** Aborted by `close`: ends pauses and rejects new calls. */
  readonly closed: AbortController;
  lastId: number;
}

/** Creates a client. `openPool` replaces the connections of undici in a simulated network. */
export function createPeers({ clock, openPool }: { readonly clock: Clock; readonly openPool?: OpenPool }): Peers {
  const client: Client = {
    clock,
    targets: createTargets(clock, openPool),
    sendInBatch: createBatches(clock),
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
  if (client.closed.signal.aborted) return refused("the client is closed");
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
  if (client.closed.signal.aborted) return refused("the client is closed");
  let reply: Result<RawReply, CallFault>;
  try {
    reply = await post(client, endpoint, ++client.lastId, envelope, options);
  } catch (thrown) {
    return asRefused(thrown);
  }
  if (!reply.ok || is2xx(reply.value)) return reply.ok ? ok(null) : reply;
  const { status } = reply.value;
  return err({ cause: "http_error", detail: `HTTP ${status}`, status });
}

function post(
  { clock, targets, sendInBatch, closed }: Client,
  endpoint: string,
  id: number,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<RawReply, CallFault>> {
  if (!targets.of(endpoint)) return noHttpUrl(endpoint);
  const startMs = clock.monotonic();
  const params = { name: "league_message", arguments: envelope };
  const body = JSON.stringify(createJSONRPCRequest(id, "tools/call", params));
  const once: SendOnce = (withOptions) => {
    // Look up the target for each attempt: its connections may have been closed as idle during the pause.
    const target = targets.of(endpoint) as Target;
    return options.batch
      ? sendInBatch(target, id, body, withOptions)
      : exchange(target, "POST", body, withOptions, clock);
  };
  const sent = options.retry ? repeatRefused(once, options, clock, closed.signal) : once(options);
  return sent.catch((thrown) => {
    const timeoutMs = startMs + options.timeoutMs - clock.monotonic();
    return repeatAfterShortage(thrown, once, { ...options, timeoutMs }, clock, closed.signal);
  });
}

async function get(
  { clock, targets, closed }: Client,
  url: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result<RawReply, CallFault>> {
  const target = targets.of(url);
  if (!target || closed.signal.aborted) return refused("the client is closed, or the URL is not an http URL");
  return exchange(target, "GET", null, signal ? { timeoutMs, signal } : { timeoutMs }, clock);
}

/** Returns the fault of a call that rejected because of a shortage on this machine, for callers that repeat the call as after a refused connection. */
export const asRefused = (thrown: unknown): Result<never, CallFault> => err(connectionFault(thrown));

const noHttpUrl = async (endpoint: string) =>
  err({
    cause: "refused",
    detail: "the endpoint is not an http URL",
    systemMessage: `not an http URL: ${endpoint.slice(0, 200)}`,
  } as const);

const refused = async (detail: string) => err({ cause: "refused", detail } as const);

type SendOnce = (options: CallOptions) => Promise<Result<RawReply, CallFault>>;

/** Sends a call, and repeats it with growing pauses while it is refused, until its time limit. */
async function repeatRefused(
  once: SendOnce,
  options: CallOptions,
  clock: Clock,
  closed: AbortSignal,
): Promise<Result<RawReply, CallFault>> {
  const deadline = clock.monotonic() + options.timeoutMs;
  let result = await once(options);
  for (let pauseMs = FIRST_RETRY_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_RETRY_PAUSE_MS)) {
    if (result.ok || result.error.cause !== "refused" || closed.aborted) return result;
    if (deadline - clock.monotonic() <= pauseMs) return result;
    const signals = options.signal ? [closed, options.signal] : [closed];
    if (!(await clock.pause(pauseMs, AbortSignal.any(signals)))) return result;
    const timeoutMs = Math.max(1, deadline - clock.monotonic());
    result = await once({ ...options, timeoutMs });
  }
}

/** Repeats a call that failed because of a shortage on this machine. Rejects with the last error if the shortage lasts until the time limit. */
async function repeatAfterShortage(
  firstError: unknown,
  once: SendOnce,
  options: CallOptions,
  clock: Clock,
  closed: AbortSignal,
): Promise<Result<RawReply, CallFault>> {
  const deadline = clock.monotonic() + options.timeoutMs;
  const signal = options.signal ? AbortSignal.any([closed, options.signal]) : closed;
  for (let lastError = firstError; ; ) {
    if (deadline - clock.monotonic() <= SHORTAGE_PAUSE_MS) throw lastError;
    if (!(await clock.pause(SHORTAGE_PAUSE_MS, signal))) throw lastError;
    try {
      return await once({ ...options, timeoutMs: Math.max(1, deadline - clock.monotonic()) });
    } catch (thrown) {
      lastError = thrown;
    }
  }
}
