import { createJSONRPCRequest, isJSONRPCResponse } from "json-rpc-2.0";
import { Pool } from "undici";
import { z } from "zod";
import { pause } from "../lib/clock.ts";
import { err, messageOf, ok, type Result } from "../lib/result.ts";
import { Envelope } from "../protocol/envelope.ts";
import type { FaultCause } from "../session/entry.ts";
import { parseEndpoint } from "./addresses.ts";

/** Why a call to another agent gave no usable answer. */
export interface CallFault {
  readonly cause: Exclude<FaultCause, "illegal_move" | "declined">;
  readonly detail: string;
  /** What came back, cut to 20,000 characters. */
  readonly raw?: string;
}

export interface CallOptions {
  /** The whole call, retries included. */
  readonly timeoutMs: number;
  /** Try again after a refused or broken connection until the time is up. Only for requests that may arrive twice. */
  readonly retry?: boolean;
  /** Sent as `Authorization: Bearer`. */
  readonly bearer?: string;
  readonly maxReplyBytes?: number;
  readonly signal?: AbortSignal;
}

/** Calls other agents' `POST /mcp`; the only client in the house. Follows no redirects. */
export interface Peers {
  /** Sends an envelope to `league_message`; the reply must be an envelope, which may be a LEAGUE_ERROR or GAME_ERROR. */
  message(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<Envelope, CallFault>>;
  /** Sends an envelope whose answer nobody reads: any 2xx will do. */
  notify(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<null, CallFault>>;
  /** Whether `GET url` answers 2xx in time. */
  isAlive(url: string, timeoutMs: number): Promise<boolean>;
  /** Whether anything answers `GET url` in time, whatever it says. */
  isListening(url: string, timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** A reply as read off the wire. */
interface RawReply {
  readonly status: number;
  readonly text: string;
}

/** Of a faulty answer so much is passed on; whoever publishes it cleans and cuts it further. */
const RAW_LIMIT = 20_000;
/** What this machine has run out of is no fault of the agent that was called: such a call rejects. */
const OUR_OWN_LACK: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EADDRNOTAVAIL", "ENOBUFS"]);
const DEFAULT_REPLY_BYTES = 256 * 1024;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;

const ToolReply = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })).optional(),
  structuredContent: z.unknown().optional(),
});

export function createPeers(): Peers {
  const pools = new Map<string, Pool>();
  const closed = new AbortController();
  let lastId = 0;

  const poolOf = (origin: string): Pool => {
    let pool = pools.get(origin);
    if (!pool) {
      // No pipelining: a slow answer would hold up the ones behind it, and undici resends after a dropped socket.
      pool = new Pool(origin, {
        connections: 128,
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        connectTimeout: 10_000,
      });
      pools.set(origin, pool);
    }
    return pool;
  };

  const post = async (
    endpoint: string,
    id: number,
    envelope: Envelope,
    options: CallOptions,
  ): Promise<Result<RawReply, CallFault>> => {
    if (closed.signal.aborted) return err({ cause: "refused", detail: "closed" });
    const url = parseEndpoint(endpoint);
    if (!url) return err({ cause: "refused", detail: `not an http URL: ${endpoint.slice(0, 200)}` });
    const params = { name: "league_message", arguments: envelope };
    const body = JSON.stringify(createJSONRPCRequest(id, "tools/call", params));
    return persistently((once) => send(poolOf(url.origin), url, "POST", body, once), options, closed.signal);
  };

  const get = async (text: string, timeoutMs: number): Promise<Result<RawReply, CallFault>> => {
    const url = parseEndpoint(text);
    if (!url || closed.signal.aborted) return err({ cause: "refused", detail: "closed, or not an http URL" });
    return send(poolOf(url.origin), url, "GET", null, { timeoutMs });
  };

  return {
    async message(endpoint, envelope, options) {
      const id = ++lastId;
      const reply = await post(endpoint, id, envelope, options);
      if (!reply.ok) return reply;
      const result = resultOf(reply.value, id);
      return result.ok ? envelopeOf(result.value) : result;
    },
    async notify(endpoint, envelope, options) {
      const reply = await post(endpoint, ++lastId, envelope, options);
      if (!reply.ok || is2xx(reply.value)) return reply.ok ? ok(null) : reply;
      return err({ cause: "http_error", detail: `HTTP ${reply.value.status}` });
    },
    async isAlive(url, timeoutMs) {
      const reply = await get(url, timeoutMs);
      return reply.ok && is2xx(reply.value);
    },
    async isListening(url, timeoutMs) {
      return (await get(url, timeoutMs)).ok;
    },
    async close() {
      closed.abort();
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

/** Repeats a refused call with growing pauses inside one deadline. */
async function persistently(
  attempt: (options: CallOptions) => Promise<Result<RawReply, CallFault>>,
  options: CallOptions,
  closed: AbortSignal,
): Promise<Result<RawReply, CallFault>> {
  const deadline = performance.now() + options.timeoutMs;
  for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_RETRY_MS)) {
    const leftMs = deadline - performance.now();
    const result = await attempt({ ...options, timeoutMs: Math.max(1, leftMs) });
    const isWorthwhile = !result.ok && result.error.cause === "refused" && options.retry && !closed.aborted;
    if (!isWorthwhile || deadline - performance.now() <= pauseMs) return result;
    const signals = options.signal ? [closed, options.signal] : [closed];
    if (!(await pause(pauseMs, AbortSignal.any(signals)))) return result;
  }
}

function send(
  pool: Pool,
  url: URL,
  method: "POST" | "GET",
  body: string | null,
  options: CallOptions,
): Promise<Result<RawReply, CallFault>> {
  const { timeoutMs, bearer, signal, maxReplyBytes = DEFAULT_REPLY_BYTES } = options;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let cancel: ((reason: Error) => void) | null = null;
    let settled = false;
    const settle = (result: Result<RawReply, CallFault>): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(result);
      if (!result.ok) cancel?.(new Error(result.error.detail));
    };
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    const late = (): void => settle(err({ cause: "timeout", detail: `no answer within ${Math.round(timeoutMs)} ms` }));
    // An answer that lies in our own socket when a busy process gets to its timer has come in time.
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    const abort = (): void => settle(err({ cause: "timeout", detail: "given up" }));
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) return abort();

    const headers: Record<string, string> = body === null ? {} : { "content-type": "application/json" };
    if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`;
    pool.dispatch(
      { path: url.pathname + url.search, method, body, headers },
      {
        onRequestStart(controller) {
          cancel = (reason) => controller.abort(reason);
          if (settled) controller.abort(new Error("given up"));
        },
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData(_controller, chunk) {
          size += chunk.length;
          chunks.push(chunk);
          if (size <= maxReplyBytes) return;
          const raw = Buffer.concat(chunks).toString("utf8", 0, RAW_LIMIT);
          settle(err({ cause: "too_large", detail: `an answer of more than ${maxReplyBytes} bytes`, raw }));
        },
        onResponseEnd() {
          settle(ok({ status, text: Buffer.concat(chunks).toString("utf8") }));
        },
        onResponseError(_controller, error) {
          if (OUR_OWN_LACK.has((error as NodeJS.ErrnoException).code ?? "")) return fail(error);
          settle(err({ cause: "refused", detail: `connection failed: ${messageOf(error)}` }));
        },
      },
    );
  });
}

const is2xx = ({ status }: RawReply): boolean => status >= 200 && status < 300;

/** The result inside a JSON-RPC reply, or what is wrong with it. */
function resultOf(answer: RawReply, id: number): Result<unknown, CallFault> {
  const { status, text } = answer;
  const raw = text.slice(0, RAW_LIMIT);
  const fault = (cause: CallFault["cause"], detail: string) => err({ cause, detail, raw });
  const ok2xx = is2xx(answer);
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    return ok2xx ? fault("bad_json", "the answer is not JSON") : fault("http_error", `HTTP ${status}`);
  }
  if (reply === null || !isJSONRPCResponse(reply)) {
    return ok2xx ? fault("bad_reply", "the answer is not a JSON-RPC response") : fault("http_error", `HTTP ${status}`);
  }
  if (reply.error) {
    const { code, message } = reply.error;
    const detail = `JSON-RPC error ${code}: ${String(message).slice(0, 200)}`;
    return ok2xx ? fault("bad_reply", detail) : fault("http_error", `HTTP ${status}, ${detail}`);
  }
  if (!ok2xx) return fault("http_error", `HTTP ${status}`);
  if (reply.id !== id) return fault("bad_reply", `the answer has id ${JSON.stringify(reply.id)}, not ${id}`);
  return ok(reply.result);
}

/** The envelope inside a tool result: the first text as JSON, or the structured content. */
function envelopeOf(result: unknown): Result<Envelope, CallFault> {
  const fault = (cause: CallFault["cause"], detail: string) =>
    err({ cause, detail, raw: JSON.stringify(result)?.slice(0, RAW_LIMIT) ?? "" });
  const tool = ToolReply.safeParse(result);
  if (!tool.success) return fault("bad_reply", "the answer is not a tool result");
  const text = tool.data.content?.find((part) => part.type === "text")?.text;
  let value = tool.data.structuredContent;
  if (text !== undefined) {
    try {
      value = JSON.parse(text);
    } catch {
      if (value === undefined) return fault("bad_json", "the text of the answer is not JSON");
    }
  }
  const envelope = Envelope.safeParse(value);
  if (envelope.success) return ok(envelope.data);
  const issue = envelope.error.issues[0];
  return fault(
    "bad_reply",
    `the answer is not a league.v2 envelope: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`,
  );
}
