import type { Pool } from "undici";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { codeOf, connectionFault } from "#shared/rpc/peer/call.ts";
import { type AnswerFormat, type AnswerMode, fieldsOf, firstMode, modeAfter } from "./answer-format.ts";

/** An endpoint of the chat completions API, and how requests are made. */
export interface CompletionOptions {
  /** The base of an OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token. `masked` replaces it by `***`. */
  readonly key: string | null;
  /** How answers in a format are requested; null for the first mode that the endpoint accepts. */
  readonly mode?: AnswerMode | null;
  /** Further fields of each request, e.g. `reasoning_effort`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Whether a request is repeated if nothing listens at the endpoint, which may be starting (default: false). */
  readonly repeatsRefused?: boolean;
  readonly clock: Clock;
}

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

interface CompletionRequest {
  readonly messages: readonly ChatMessage[];
  /** The maximum number of tokens of the answer. */
  readonly maxTokens: number;
  /** Absent for an answer in plain text. */
  readonly format?: AnswerFormat;
  /** Repeats the random choices of the model, if the endpoint supports it. */
  readonly seed?: number;
}

/** The time of one request with its repetitions. */
interface RequestLimit {
  /** Aborted when the time is over or the answer is no longer needed. */
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** Called before each repetition with the reason and the pause. */
  onRepeat?(reason: string, pauseMs: number): void;
}

/** The last reply, or the error if there is none, with the number of HTTP requests and the duration of the last one. */
export type Completed = ({ readonly reply: Reply } | { readonly thrown: unknown }) & {
  readonly requests: number;
  readonly latencyMs: number;
};

/** The longest pause. Timers of Node.js support at most 24 days. */
const A_DAY_MS = 86_400_000;
/** Pauses before a request is repeated, if the endpoint does not name a pause. */
const BACKOFF_MS = [1_000, 2_000, 4_000] as const;
/** The number of times that a request is repeated if the endpoint names the pause. */
const MAX_PAUSES = 5;
/** Error codes of a connection that the endpoint or a proxy closed. */
const RESETS: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** A client of the chat completions of one endpoint. It remembers which fields of a request the endpoint does not accept. */
export class Completions {
  readonly endpoint: string;
  readonly #options: CompletionOptions;
  readonly #post: JsonPost;
  /** The field of the token limit. Newer models of OpenAI accept only `max_completion_tokens`. */
  #limitName: "max_tokens" | "max_completion_tokens" = "max_tokens";
  #acceptsSeed = true;
  #mode: AnswerMode;
  /** Whether the endpoint has answered a request in this mode. */
  #isModeAccepted: boolean;

  constructor(options: CompletionOptions) {
    this.#options = options;
    this.endpoint = `${options.url.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions`;
    this.#post = new JsonPost(this.endpoint, options.key);
    this.#mode = options.mode ?? firstMode;
    this.#isModeAccepted = options.mode != null;
  }

  /**
   * Returns a text of the endpoint as it may be shown and stored: without the key, which endpoints quote in error messages and models may repeat. An
   * answer is parsed as it is, because a short key can be a part of it.
   */
  masked(text: string): string {
    const { key } = this.#options;
    return key ? text.replaceAll(key, "***") : text;
  }

  /** How answers in a format are requested now. */
  get mode(): AnswerMode {
    return this.#mode;
  }

  /**
   * Requests a completion. If the endpoint is busy (429), fails (5xx) or closes the connection, the request is repeated within its limit: after
   * the pause that the endpoint names, else after 1, 2 and 4 seconds. A pause that is longer than the time that remains ends the request.
   */
  async request(request: CompletionRequest, limit: RequestLimit): Promise<Completed> {
    const { clock } = this.#options;
    let mode = this.#mode;
    for (let pauses = 0, requests = 1; ; requests++) {
      const startedAt = clock.monotonic();
      const sent = await this.#send(request, mode, limit.signal);
      const latencyMs = Math.round(clock.monotonic() - startedAt);
      const isAccepted = "reply" in sent && sent.reply.status === 200;
      if (isAccepted && request.format) this.#accept(mode);
      const nextMode = this.#adapt(sent, request, mode);
      if (nextMode !== null) {
        mode = nextMode;
        continue;
      }
      const pauseMs = this.#pauseAfter(sent, pauses++);
      if (pauseMs === null || pauseMs >= limit.remainingMs()) return { ...sent, requests, latencyMs };
      limit.onRepeat?.(repetitionOf(sent), pauseMs);
      if (!(await clock.pause(pauseMs, limit.signal))) return { ...sent, requests, latencyMs };
    }
  }

  /** Closes the connections. Requests under way fail. */
  close(): Promise<void> {
    return this.#post.close();
  }

  #accept(mode: AnswerMode): void {
    this.#mode = mode;
    this.#isModeAccepted = true;
  }

  /** Returns the mode of another request that avoids a field that the endpoint has rejected; null if there is no such request. */
  #adapt(sent: Sent, { seed, format }: CompletionRequest, mode: AnswerMode): AnswerMode | null {
    if (!("reply" in sent) || ![400, 422].includes(sent.reply.status)) return null;
    const { text } = sent.reply;
    if (this.#limitName === "max_tokens" && text.includes("max_completion_tokens")) {
      this.#limitName = "max_completion_tokens";
      return mode;
    }
    if (this.#acceptsSeed && seed !== undefined && /\bseed\b/.test(text)) {
      this.#acceptsSeed = false;
      return mode;
    }
    return format && !this.#isModeAccepted ? modeAfter(mode) : null;
  }

  /** Returns the time to wait before the request is repeated; null if it is not repeated. `pauses` is the number of earlier pauses. */
  #pauseAfter(sent: Sent, pauses: number): number | null {
    const { repeatsRefused = false, clock } = this.#options;
    const backoffMs = BACKOFF_MS[pauses] ?? null;
    if ("thrown" in sent) {
      const code = codeOf(sent.thrown);
      return RESETS.has(code) || (repeatsRefused && code === "ECONNREFUSED") ? backoffMs : null;
    }
    const { status, retryAfter } = sent.reply;
    if (status !== 429 && status < 500) return null;
    const namedMs = pauses < MAX_PAUSES ? pauseIn(retryAfter, clock.now()) : null;
    return namedMs ?? backoffMs;
  }

  async #send({ messages, maxTokens, format, seed }: CompletionRequest, mode: AnswerMode, signal: AbortSignal) {
    const { model, extra = {} } = this.#options;
    const namesLimit = "max_tokens" in extra || "max_completion_tokens" in extra;
    const body = {
      model,
      messages,
      ...(!namesLimit && { [this.#limitName]: maxTokens }),
      ...(seed !== undefined && this.#acceptsSeed && { seed }),
      ...(format && fieldsOf(format, mode)),
      ...extra,
    };
    try {
      return { reply: await this.#post.send(body, signal) };
    } catch (thrown) {
      return { thrown };
    }
  }
}

type Sent = { readonly reply: Reply } | { readonly thrown: unknown };

/** Returns what the endpoint has done, for people. */
function repetitionOf(sent: Sent): string {
  if ("reply" in sent) return `answered HTTP ${sent.reply.status}`;
  return codeOf(sent.thrown) === "ECONNREFUSED" ? "refused the connection" : "closed the connection";
}

/** Returns the pause of a Retry-After header, which contains seconds or a date; null for any other text. */
function pauseIn(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Math.ceil((Date.parse(text) - now) / 1000) * 1000;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), A_DAY_MS) : null;
}

/** The content of a chat completion. */
export interface Completion {
  /** The text of the answer, or the arguments of its tool call; empty if there is neither. It may contain the key: mask it before it is shown or stored. */
  readonly text: string;
  /** The reason that the model gives for not answering; null if it gives none. */
  readonly refusal: string | null;
  /** Whether the answer ends at the limit of tokens. */
  readonly isCutOff: boolean;
  /** null if the endpoint does not count tokens. */
  readonly usage: { readonly tokensIn: number; readonly tokensOut: number } | null;
  /** The name of the model as the endpoint reports it. */
  readonly model: string | null;
  /** The version of the endpoint's system, with which a seed is repeatable. */
  readonly fingerprint: string | null;
}

/** The reasons why a request has no completion. */
export const completionFaults = [
  "timeout",
  "connection",
  "rate_limited",
  "server_error",
  "wrong_key",
  "unknown_model",
  "rejected_request",
  "bad_completion",
] as const;

export interface CompletionFault {
  readonly cause: (typeof completionFaults)[number];
  /** For everyone: without addresses, and without texts of the endpoint, which may name accounts. */
  readonly detail: string;
  /** For the operator of this process: the message of the endpoint or of the system. */
  readonly message: string;
}

const Part = z.object({ text: z.string().optional() });
const Tokens = z.int().min(0);
const Body = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.union([z.string(), z.array(Part)]).nullish(),
          refusal: z.string().nullish(),
          // Some servers take an answer for reasoning, so that its content is empty.
          reasoning_content: z.string().nullish().catch(null),
          // The API defines JSON text. Some servers send the object itself.
          tool_calls: z
            .array(z.object({ function: z.object({ arguments: z.union([z.string(), z.looseObject({})]) }).optional() }))
            .nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: Tokens, completion_tokens: Tokens }).nullish().catch(null),
  model: z.string().nullish().catch(null),
  system_fingerprint: z.string().nullish().catch(null),
});
const ErrorBody = z.object({
  error: z.union([z.string(), z.object({ message: z.string(), code: z.unknown().optional() })]),
});

/** Masks the key in a text of the endpoint. */
type Mask = (text: string) => string;

/** Returns the completion of a request, or the reason why it has none. All texts except that of the answer are masked. */
export function completionOf(completed: Completed, mask: Mask): Result<Completion, CompletionFault> {
  const found = "thrown" in completed ? err(connectionFaultOf(completed.thrown)) : completionIn(completed.reply);
  if (!found.ok) return err({ ...found.error, message: mask(found.error.message) });
  const { refusal, model, fingerprint } = found.value;
  const masked = (text: string | null): string | null => text && mask(text);
  return ok({ ...found.value, refusal: masked(refusal), model: masked(model), fingerprint: masked(fingerprint) });
}

function completionIn(reply: Reply): Result<Completion, CompletionFault> {
  if (reply.status !== 200) return err(httpFault(reply));
  const value = parsedJson(reply.text);
  const parsed = Body.safeParse(value);
  if (parsed.success) return ok(contentOf(parsed.data));
  // Some proxies of several providers report the failure of a provider with status 200.
  const error = ErrorBody.safeParse(value).data?.error;
  const status = typeof error === "object" && typeof error.code === "number" ? error.code : 200;
  if (status >= 400) return err(httpFault({ ...reply, status }));
  return err({
    cause: "bad_completion",
    detail: "the response is not a chat completion",
    message: errorTextIn(reply.text),
  });
}

function contentOf({ choices, usage, model, system_fingerprint }: z.infer<typeof Body>): Completion {
  const [choice] = choices;
  const { content, refusal, tool_calls, reasoning_content } = choice?.message ?? {};
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
  // Some models write their reasoning before the answer.
  const written = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  const call = tool_calls?.find((one) => one.function)?.function;
  return {
    text: (call && argumentsText(call.arguments)) || written || objectText(reasoning_content ?? ""),
    refusal: refusal || (choice?.finish_reason === "content_filter" ? "the content filter ended the answer" : null),
    isCutOff: choice?.finish_reason === "length",
    usage: usage ? { tokensIn: usage.prompt_tokens, tokensOut: usage.completion_tokens } : null,
    model: model ?? null,
    fingerprint: system_fingerprint ?? null,
  };
}

/** Returns a text that is one JSON object; empty for any other text, because reasoning also names what is not chosen. */
const objectText = (text: string): string => (z.looseObject({}).safeParse(parsedJson(text)).success ? text.trim() : "");

/** Returns the arguments of a tool call as JSON text. Some servers send the JSON text of that text. */
function argumentsText(given: string | object): string {
  const value = typeof given === "string" ? parsedJson(given) : given;
  if (typeof value === "string") return value.trim();
  return typeof given === "string" ? given.trim() : JSON.stringify(given);
}

function connectionFaultOf(thrown: unknown): CompletionFault {
  const isTimeout = thrown instanceof Error && ["AbortError", "TimeoutError"].includes(thrown.name);
  const message = messageOf(thrown) || codeOf(thrown) || "no connection";
  if (isTimeout) return { cause: "timeout", detail: "the model did not answer in time", message };
  return { cause: "connection", detail: `no connection to the endpoint: ${connectionFault(thrown).detail}`, message };
}

/** Returns the fault of a reply with a status other than 200. */
function httpFault({ status, retryAfter, text }: Reply): CompletionFault {
  const message = `HTTP ${status}${errorTextIn(text) && `: ${errorTextIn(text)}`}`;
  const fault = (cause: CompletionFault["cause"], what: string): CompletionFault => ({
    cause,
    detail: `the endpoint ${what} (HTTP ${status})`,
    message,
  });
  const wait =
    retryAfter === null ? "" : ` and asks to wait ${/^\d+$/.test(retryAfter) ? `${retryAfter} s` : "longer"}`;
  if (status === 429) return fault("rate_limited", `is busy${wait}`);
  if (status >= 500) return fault("server_error", "failed");
  if (status === 401 || status === 403) return fault("wrong_key", "rejects the API key");
  if (status === 404) return fault("unknown_model", "does not know the model or the address");
  return fault("rejected_request", "rejected the request");
}

/** Returns the error message in the body of a reply; empty if there is none. */
function errorTextIn(text: string): string {
  const error = ErrorBody.safeParse(parsedJson(text)).data?.error ?? "";
  return typeof error === "string" ? error : error.message;
}

/** The HTTP response of an endpoint. */
interface Reply {
  readonly status: number;
  /** The content of the header Retry-After; null if the response does not have it. */
  readonly retryAfter: string | null;
  readonly text: string;
}

const MAX_REPLY_BYTES = 1024 * 1024;

/** Sends JSON to one URL over the connections of one pool, which is opened with the first request. */
export class JsonPost {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #pool: Pool | null = null;
  #isClosed = false;
  readonly #opened = lazily("the HTTP client", () => this.#open());

  constructor(url: string, bearer: string | null) {
    this.#url = new URL(url);
    this.#headers = {
      "content-type": "application/json",
      ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
    };
  }

  /**
   * Resolves with the response. Does not follow redirects, because the bearer token is for this URL only. Rejects if there is no complete
   * response before `signal` is aborted, or if it is too long.
   */
  async send(body: object, signal: AbortSignal): Promise<Reply> {
    const pool = await this.#opened();
    const response = await pool.request({
      path: this.#url.pathname,
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify(body),
      signal,
    });
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of response.body) {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_REPLY_BYTES) throw new Error(`the answer has more than ${MAX_REPLY_BYTES} bytes`);
      chunks.push(chunk);
    }
    const retryAfter = response.headers["retry-after"];
    return {
      status: response.statusCode,
      retryAfter: typeof retryAfter === "string" ? retryAfter : null,
      text: Buffer.concat(chunks).toString("utf8"),
    };
  }

  /** Closes the connections. Requests under way fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  /** The caller limits the time of a request, which undici would otherwise end after five minutes. */
  async #open(): Promise<Pool> {
    const { Pool } = await import("undici");
    this.#pool ??= new Pool(this.#url.origin, { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });
    if (this.#isClosed) await this.#pool.destroy();
    return this.#pool;
  }
}
