/** Requests to the chat completions of an OpenAI-compatible endpoint. */
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { Ask } from "#shared/rpc/jsonrpc/input.ts";

export interface CompletionOptions {
  /** The base of an OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token; never printed. */
  readonly key: string | null;
  /** The most tokens of an answer; null for the number that the prompt asks for. */
  readonly maxTokens: number | null;
  tell(line: string): void;
  /** Waits before a request is repeated; absent for a real pause. */
  readonly wait?: Clock["pause"];
}

export interface Reply {
  readonly status: number;
  readonly retryAfterS: number | null;
  readonly text: string;
}

type Prompt = Extract<Ask, { kind: "prompt" }>;

/** No pause is longer: a timer holds no more than 24 days. */
const A_DAY_S = 86_400;
const MAX_REPLY_BYTES = 1024 * 1024;
/** Pauses in seconds before a request is repeated, if the endpoint names no time. */
const BACKOFF_S = [1, 2, 4] as const;
/** How many times a request is repeated when the endpoint names the time. */
const MAX_PAUSES = 5;
/** Error codes of a connection that the endpoint, or a proxy before it, has cut. */
const RESETS: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

export class Completions {
  readonly endpoint: string;
  readonly #options: CompletionOptions;
  /** Newer models of OpenAI accept the limit under another name only. */
  #limitName: "max_tokens" | "max_completion_tokens" = "max_tokens";

  constructor(options: CompletionOptions) {
    this.#options = options;
    this.endpoint = `${options.url.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions`;
  }

  /**
   * The reply. If the endpoint is busy (429), fails (5xx) or cuts the connection, the request is repeated while there is time: after the pause
   * that the endpoint names, else after 1, 2 and 4 seconds.
   */
  async of(prompt: Prompt, limit: AbortSignal): Promise<Reply> {
    const { tell, wait = systemClock.pause } = this.#options;
    for (let pauses = 0; ; pauses++) {
      const got = await this.#request(prompt, limit).catch((thrown: unknown) => ({ thrown }));
      if (this.#limitName === "max_tokens" && wantsOtherLimit(got)) {
        this.#limitName = "max_completion_tokens";
        continue;
      }
      const pauseS = pauseAfter(got, pauses);
      if (pauseS !== null) {
        const why = "status" in got ? `answers HTTP ${got.status}` : "has cut the connection";
        tell(`the LLM ${why}; asking again in ${pauseS} s`);
        if (await wait(pauseS * 1000, limit)) continue;
      }
      if ("status" in got) return got;
      throw got.thrown;
    }
  }

  async #request({ system, text, maxTokens }: Prompt, limit: AbortSignal): Promise<Reply> {
    const { key, model, maxTokens: most } = this.#options;
    const messages = [
      { role: "system", content: system },
      { role: "user", content: text },
    ];
    const response = await fetch(this.endpoint, {
      method: "POST",
      // The key is sent to the named endpoint only.
      redirect: "error",
      headers: { "content-type": "application/json", ...(key !== null && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, messages, [this.#limitName]: most ?? maxTokens }),
      signal: limit,
    });
    const retryAfterS = secondsIn(response.headers.get("retry-after"));
    return { status: response.status, retryAfterS, text: await bodyOf(response) };
  }
}

type Got = Reply | { readonly thrown: unknown };

const wantsOtherLimit = (got: Got): boolean =>
  "status" in got && got.status === 400 && /max_completion_tokens/.test(got.text);

/** Seconds to wait before a request is repeated; null if it is not repeated. */
function pauseAfter(got: Got, pauses: number): number | null {
  const next = BACKOFF_S[pauses] ?? null;
  if (!("status" in got)) return RESETS.has(codeOf(got.thrown)) ? next : null;
  if (got.status !== 429 && got.status < 500) return null;
  return got.retryAfterS !== null && pauses < MAX_PAUSES ? got.retryAfterS : next;
}

/** The seconds of a Retry-After header, which gives a number or a date; null for anything else. */
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
    if (size > MAX_REPLY_BYTES) throw new Error(`an answer of more than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The error of `fetch` says "fetch failed"; its cause says why. */
const hiddenCause = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;

const codeOf = (thrown: unknown): unknown => (hiddenCause(thrown) as { code?: unknown } | null)?.code;

export const causeOf = (thrown: unknown): string =>
  messageOf(hiddenCause(thrown)) || String(codeOf(thrown) ?? "no connection");
