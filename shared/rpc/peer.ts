import { createJSONRPCRequest, isJSONRPCResponse } from "json-rpc-2.0";
import { z } from "zod";
import type { Clock } from "../lib/clock.ts";
import { err, messageOf, ok, type Result } from "../lib/result.ts";
import { asText, cutTo, inOneLine, jsonOf } from "../lib/text.ts";
import { Envelope } from "../protocol/envelope.ts";
import { faultOfSender } from "../protocol/senders.ts";
import { createBatches } from "./batch.ts";
import { connectionFault } from "./connection-fault.ts";
import { exchange, type Target } from "./exchange.ts";
import { type CallFault, type CallOptions, parsed, RAW_LIMIT, type RawReply } from "./pending.ts";
import { createTargets } from "./targets.ts";

/**
 * Calls other agents' `POST /mcp`; the only client in the house. Follows no redirects. Whatever the other side does is a value; `message` and
 * `isAlive` reject when this machine lacked something (files, memory, ports) until the call's time was over: nobody else is to blame for that.
 */
export interface Peers {
  /** Sends an envelope to `league_message`; the reply must be an envelope, which may be a LEAGUE_ERROR or GAME_ERROR. */
  message(endpoint: string, envelope: Envelope, options: CallOptions): Promise<Result<Envelope, CallFault>>;
  /** Sends an envelope whose answer nobody reads: any 2xx will do. */
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
/** The limit of the rejected fields that an error names. */
const MAX_FIELDS = 500;

const ToolReply = z.compile(
  z.object({
    content: z.array(z.object({ type: z.string(), text: z.string().optional() })).optional(),
    structuredContent: z.unknown().optional(),
    isError: z.unknown().optional(),
  }),
);

export function createPeers({ clock }: { readonly clock: Clock }): Peers {
  const targets = createTargets(clock);
  const inBatch = createBatches(clock);
  const closed = new AbortController();
  let lastId = 0;

  const post = (
    endpoint: string,
    id: number,
    envelope: Envelope,
    options: CallOptions,
  ): Promise<Result<RawReply, CallFault>> => {
    if (!targets.of(endpoint)) return noHttpUrl(endpoint);
    const begun = clock.monotonic();
    const params = { name: "league_message", arguments: envelope };
    const body = JSON.stringify(createJSONRPCRequest(id, "tools/call", params));
    const once: SendOnce = (withOptions) => {
      // Anew for each try: connections that were idle while this call waited have been closed.
      const target = targets.of(endpoint) as Target;
      return options.batch
        ? inBatch(target, id, body, withOptions)
        : exchange(target, "POST", body, withOptions, clock);
    };
    const sent = options.retry ? persistently(once, options, clock, closed.signal) : once(options);
    return sent.catch((thrown) =>
      patiently(
        thrown,
        once,
        { ...options, timeoutMs: begun + options.timeoutMs - clock.monotonic() },
        clock,
        closed.signal,
      ),
    );
  };

  const get = async (
    url: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Result<RawReply, CallFault>> => {
    const target = targets.of(url);
    if (!target || closed.signal.aborted) return refused("closed, or not an http URL");
    return exchange(target, "GET", null, signal ? { timeoutMs, signal } : { timeoutMs }, clock);
  };

  return {
    async message(endpoint, envelope, options) {
      if (closed.signal.aborted) return refused("closed");
      const id = ++lastId;
      const reply = await post(endpoint, id, envelope, options);
      if (!reply.ok) return reply;
      return read(reply.value, id, envelope.message_id);
    },
    async notify(endpoint, envelope, options) {
      if (closed.signal.aborted) return refused("closed");
      let reply: Result<RawReply, CallFault>;
      try {
        reply = await post(endpoint, ++lastId, envelope, options);
      } catch (thrown) {
        return asRefused(thrown); // news that could not be told hurts nobody
      }
      if (!reply.ok || is2xx(reply.value)) return reply.ok ? ok(null) : reply;
      const { status } = reply.value;
      return err({ cause: "http_error", detail: `HTTP ${status}`, status });
    },
    async isAlive(url, timeoutMs, signal) {
      const reply = await get(url, timeoutMs, signal);
      return reply.ok && is2xx(reply.value);
    },
    async isListening(url, timeoutMs, signal) {
      const reply = await get(url, timeoutMs, signal).catch(() => null);
      return reply?.ok ?? false;
    },
    async close() {
      closed.abort();
      await targets.close();
    },
  };
}

/** What this machine lacked as a refused call, for those who will call again and blame nobody. */
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

const is2xx = ({ status }: RawReply): boolean => status >= 200 && status < 300;

/** The envelope in an answer. The answer is somebody else's: whatever goes wrong in reading it is wrong with it, and no fault of ours. */
function read(answer: RawReply, id: number, messageId: string): Result<Envelope, CallFault> {
  try {
    const result = resultOf(answer, id);
    return result.ok ? envelopeOf(result.value, messageId) : result;
  } catch (thrown) {
    const raw = answer.text.slice(0, RAW_LIMIT);
    return err({ cause: "bad_reply", detail: `the answer cannot be read: ${messageOf(thrown)}`, raw });
  }
}

/** The result inside a JSON-RPC reply, or what is wrong with it. */
function resultOf(answer: RawReply, id: number): Result<unknown, CallFault> {
  const { status, text } = answer;
  const raw = text.slice(0, RAW_LIMIT);
  const ok2xx = is2xx(answer);
  const fault = (cause: CallFault["cause"], detail: string) =>
    err(ok2xx ? { cause, detail, raw } : { cause, detail, raw, status });
  const json = answer.json === undefined ? parsed(text) : answer.json;
  if (json === null) return ok2xx ? fault("bad_json", "the answer is not JSON") : fault("http_error", `HTTP ${status}`);
  const reply = json.value;
  if (reply === undefined && ok2xx) return fault("bad_reply", "the answer to a batch holds none to this call");
  if (reply === null || reply === undefined || !isJSONRPCResponse(reply)) {
    return ok2xx ? fault("bad_reply", "the answer is not a JSON-RPC response") : fault("http_error", `HTTP ${status}`);
  }
  if (reply.error) {
    const { code, message, data } = reply.error;
    const refusedFields = refusedFieldsIn(data);
    const other = data === undefined ? "" : ` ${jsonOf(data).slice(0, 300)}`;
    const more = refusedFields === null ? other : `; ${refusedFields}`;
    const detail = `JSON-RPC error ${asText(code).slice(0, 20)}: ${asText(message).slice(0, 200)}${more}`;
    const failed = ok2xx ? fault("bad_reply", detail) : fault("http_error", `HTTP ${status}, ${detail}`);
    return refusedFields === null ? failed : err({ ...failed.error, refusedFields });
  }
  if (!ok2xx) return fault("http_error", `HTTP ${status}`);
  if (reply.id !== id) return fault("bad_reply", `the answer has id ${jsonOf(reply.id).slice(0, 200)}, not ${id}`);
  return ok(reply.result);
}

/** The data of an error -32602, as this project sends it. */
const FaultData = z.object({ faults: z.array(z.object({ path: z.string(), message: z.string() })).min(1) });

function refusedFieldsIn(data: unknown): string | null {
  const parsed = FaultData.safeParse(data);
  if (!parsed.success) return null;
  const faults = parsed.data.faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return cutTo(MAX_FIELDS, inOneLine(faults.join("; ")));
}

/** The envelope inside a tool result, which answers the message with this id: the first text as JSON, or the structured content. */
function envelopeOf(result: unknown, messageId: string): Result<Envelope, CallFault> {
  const fault = (cause: CallFault["cause"], detail: string) =>
    err({ cause, detail, raw: jsonOf(result).slice(0, RAW_LIMIT) });
  const tool = ToolReply.safeParse(result);
  if (!tool.success) return fault("bad_reply", "the answer is not a tool result");
  const text = tool.data.content?.find((part) => part.type === "text")?.text;
  let value = tool.data.structuredContent;
  if (text !== undefined) {
    try {
      value = JSON.parse(text);
    } catch {
      if (value === undefined && tool.data.isError === true) return fault("bad_reply", toolError(text));
      if (value === undefined) return fault("bad_json", "the text of the answer is not JSON");
    }
  }
  const envelope = Envelope.safeParse(value);
  if (!envelope.success && tool.data.isError === true) return fault("bad_reply", toolError(text ?? jsonOf(value)));
  if (!envelope.success) {
    const issue = envelope.error.issues[0];
    const what = `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
    return fault("bad_reply", `the answer is not a league.v2 envelope: ${what}`);
  }
  const { type, sender, correlation_id } = envelope.data;
  const wrongSender = faultOfSender(type, sender);
  if (wrongSender !== null) return fault("bad_reply", wrongSender);
  if (correlation_id != null && correlation_id !== messageId) {
    return fault("bad_reply", `the answer's correlation_id is ${correlation_id}, and the request was ${messageId}`);
  }
  return ok(envelope.data);
}

const toolError = (text: string): string => `its tool reports an error: ${text.slice(0, 300)}`;
