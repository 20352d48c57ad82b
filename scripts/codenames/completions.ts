/** Requests to the chat completions API of an OpenAI-compatible endpoint. */
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";

/** The endpoint and the model, and how requests are made. */
export interface CompletionOptions {
  /** The base of an OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token; never printed. */
  readonly key: string | null;
  /** The maximum number of tokens of an answer; null for the number that the prompt names. */
  readonly maxTokens: number | null;
  /** Prints a line for the user. */
  print(line: string): void;
  /** Waits before a request is repeated. Tests replace it; the default is a real pause. */
  readonly wait?: Clock["pause"];
}

/** The HTTP answer of the endpoint. */
export interface Reply {
  readonly status: number;
  readonly retryAfterS: number | null;
  readonly text: string;
}

type Prompt = Extract<CallerQuestion, { kind: "prompt" }>;

/** The longest pause. Timers of Node.js support at most 24 days. */
const A_DAY_S = 86_400;
const MAX_REPLY_BYTES = 1024 * 1024;
/** Pauses in seconds before a request is repeated, if the endpoint does not name a pause. */
const BACKOFF_S = [1, 2, 4] as const;
/** The number of times that a request is repeated if the endpoint names the pause. */
const MAX_PAUSES = 5;
/** Error codes of a connection that the endpoint or a proxy closed. */
const RESETS: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** A client of the chat completions of one endpoint. */
export class Completions {
  readonly endpoint: string;
  readonly #options: CompletionOptions;
  /** The field of the token limit. Newer models of OpenAI accept only `max_completion_tokens`. */
  #limitName: "max_tokens" | "max_completion_tokens" = "max_tokens";

  constructor(options: CompletionOptions) {
    this.#options = options;
    this.endpoint = `${options.url.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions`;
  }

  /**
   * Requests a completion. If the endpoint is busy (429), fails (5xx) or closes the connection, the request is repeated until `limit` aborts: after
   * the pause that the endpoint names, else after 1, 2 and 4 seconds. Rejects if the last request has no answer.
   */
  async request(prompt: Prompt, limit: AbortSignal): Promise<Reply> {
    const { print, wait = systemClock.pause } = this.#options;
    for (let pauses = 0; ; pauses++) {
      const result = await this.#send(prompt, limit).catch((thrown: unknown) => ({ thrown }));
      if (this.#limitName === "max_tokens" && needsOtherLimitName(result)) {
        this.#limitName = "max_completion_tokens";
        continue;
      }
      const pauseS = pauseAfter(result, pauses);
      if (pauseS !== null) {
        const fault = "status" in result ? `answered HTTP ${result.status}` : "closed the connection";
        print(`the LLM ${fault}; repeating the request in ${pauseS} s`);
        if (await wait(pauseS * 1000, limit)) continue;
      }
      if ("status" in result) return result;
      throw result.thrown;
    }
  }

  async #send({ system, text, maxTokens }: Prompt, limit: AbortSignal): Promise<Reply> {
    const { key, model, maxTokens: maxTokensOption } = this.#options;
    const messages = [
      { role: "system", content: system },
      { role: "user", content: text },
    ];
    const response = await fetch(this.endpoint, {
      method: "POST",
      // The key is sent to the named endpoint only.
      redirect: "error",
      headers: { "content-type": "application/json", ...(key !== null && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, messages, [this.#limitName]: maxTokensOption ?? maxTokens }),
      signal: limit,
    });
    const retryAfterS = secondsIn(response.headers.get("retry-after"));
    return { status: response.status, retryAfterS, text: await bodyOf(response) };
  }
}

type Result = Reply | { readonly thrown: unknown };

const needsOtherLimitName = (result: Result): boolean =>
  "status" in result && result.status === 400 && /max_completion_tokens/.test(result.text);

/** Returns the seconds to wait before the request is repeated; null if it is not repeated. `pauses` is the number of earlier pauses. */
function pauseAfter(result: Result, pauses: number): number | null {
  const backoffS = BACKOFF_S[pauses] ?? null;
  if (!("status" in result)) return RESETS.has(codeOf(result.thrown)) ? backoffS : null;
  if (result.status !== 429 && result.status < 500) return null;
  return result.retryAfterS !== null && pauses < MAX_PAUSES ? result.retryAfterS : backoffS;
}

/** Returns the seconds of a Retry-After header, which contains a number or a date; null for any other text. */
function secondsIn(header: string | null): number | null {
  const text = header?.trim() ?? "";
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - systemClock.now()) / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), A_DAY_S) : null;
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_REPLY_BYTES) throw new Error(`the answer has more than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns the cause of an error. The message of an error of `fetch` is only "fetch failed". */
const rootCause = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;

const codeOf = (thrown: unknown): unknown => (rootCause(thrown) as { code?: unknown } | null)?.code;

/** Returns the reason of a failed request as text. */
export const causeOf = (thrown: unknown): string =>
  messageOf(rootCause(thrown)) || String(codeOf(thrown) ?? "no connection");
