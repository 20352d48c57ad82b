import type { Clock } from "../../lib/clock.ts";
import { codeOf } from "../peer/connection-fault.ts";
import { type AnswerFormat, type AnswerMode, fieldsOf, firstMode, modeAfter } from "./answer-format.ts";
import { JsonPost, type Reply } from "./http-post.ts";

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
