import { z } from "zod";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { Ask, Said } from "#shared/rpc/jsonrpc/input.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

export interface ModelOptions {
  /** The base of an OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token, shown nowhere. */
  readonly key: string | null;
  /** For one answer, pauses included. */
  readonly timeoutMs: number;
  /** Room for an answer; null for as much as is asked for. */
  readonly maxTokens: number | null;
  readonly signal: AbortSignal;
  tell(line: string): void;
  /** Waits before a request is made again; absent for a real pause. */
  readonly wait?: Clock["pause"];
}

/**
 * An OpenAI-compatible endpoint as the model of an MCP host. What goes wrong once is an answer that failed, which the game asks for
 * again; an endpoint that is down or shuts us out ends the command with a StartError, so that nobody loses turns by it.
 */
export type Model = (prompt: Extract<Ask, { kind: "prompt" }>) => Promise<Said>;

/** No pause is longer: a timer holds no more than 24 days. */
const A_DAY_S = 86_400;
const FAILURES_IN_A_ROW = 3;
const MAX_REPLY_BYTES = 1024 * 1024;
/** Before a request is made again, where the endpoint names no time, seconds. */
const BACKOFF_S = [1, 2, 4] as const;
/** How many times a request is made again when the endpoint names the time. */
const MAX_PAUSES = 5;
/** Error codes of a connection that the endpoint, or a proxy before it, has cut. */
const RESETS: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
/** Asking again would not help. */
const SHUT_OUT: ReadonlySet<number> = new Set([401, 403, 404]);

const Part = z.object({ text: z.string().optional() });
const Completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.union([z.string(), z.array(Part)]).nullish(),
          refusal: z.string().nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
});
const Refused = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) });

interface Reply {
  readonly status: number;
  readonly retryAfterS: number | null;
  readonly text: string;
}

export function createModel(options: ModelOptions): Model {
  const { key, timeoutMs, tell, wait = systemClock.pause } = options;
  const endpoint = `${options.url.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions`;
  let failures = 0;
  /** Newer models of OpenAI want another name for the same number. */
  let limitName: "max_tokens" | "max_completion_tokens" = "max_tokens";
  /** One line for people, without control characters and without the key. */
  const clean = (text: string): string => {
    const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
    return (key === null ? line : line.replaceAll(key, "***")).slice(0, 200);
  };

  const request = async ({ system, text, maxTokens }: Parameters<Model>[0], limit: AbortSignal): Promise<Reply> => {
    const messages = [
      { role: "system", content: system },
      { role: "user", content: text },
    ];
    const response = await fetch(endpoint, {
      method: "POST",
      // The key goes to nobody but the endpoint that was named.
      redirect: "error",
      headers: { "content-type": "application/json", ...(key !== null && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model: options.model, messages, [limitName]: options.maxTokens ?? maxTokens }),
      signal: limit,
    });
    const retryAfterS = secondsIn(response.headers.get("retry-after"));
    return { status: response.status, retryAfterS, text: await bodyOf(response) };
  };

  /**
   * The reply. If the endpoint is busy (429), fails (5xx) or cuts the connection, the request is made again while there is time: after the pause
   * that the endpoint names, else after 1, 2 and 4 seconds.
   */
  const patiently = async (prompt: Parameters<Model>[0], limit: AbortSignal): Promise<Reply> => {
    for (let pauses = 0; ; pauses++) {
      const got = await request(prompt, limit).catch((thrown: unknown) => ({ thrown }));
      if (
        "status" in got &&
        got.status === 400 &&
        limitName === "max_tokens" &&
        /max_completion_tokens/.test(got.text)
      ) {
        limitName = "max_completion_tokens";
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
  };

  const failed = (why: string, isDown: boolean): Said => {
    const told = clean(why);
    if (isDown && ++failures >= FAILURES_IN_A_ROW) {
      throw new StartError(`the LLM at ${endpoint} failed ${failures} times in a row: ${told}`, EXIT.failed);
    }
    tell(`the LLM gave no answer: ${told}`);
    return { kind: "failed", why: told };
  };

  return async (prompt) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    let reply: Reply;
    try {
      reply = await patiently(prompt, AbortSignal.any([deadline, options.signal]));
    } catch (thrown) {
      if (options.signal.aborted) throw thrown;
      return failed(deadline.aborted ? `none in ${timeoutMs} ms` : causeOf(thrown), true);
    }
    if (SHUT_OUT.has(reply.status)) {
      throw new StartError(`the LLM at ${endpoint} answers ${clean(faultOf(reply))}`, EXIT.failed);
    }
    if (reply.status !== 200) return failed(faultOf(reply), true);
    const completion = Completion.safeParse(parsedJson(reply.text));
    if (!completion.success) return failed("what came back is no chat completion", true);
    failures = 0;
    const [choice] = completion.data.choices;
    const { content, refusal } = choice?.message ?? {};
    const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
    // What a model thinks aloud before it answers is no part of the answer.
    const answer = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
    if (answer !== "") return { kind: "text", text: answer };
    if (refusal) return failed(`it refused: ${refusal}`, false);
    const cut = choice?.finish_reason === "length" ? ", it was cut off; --max-tokens gives it more room" : "";
    return failed(`an empty answer${cut}`, false);
  };
}

/** Seconds to wait before a request is made again; null if it is not made again. */
function pauseAfter(got: Reply | { readonly thrown: unknown }, pauses: number): number | null {
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

function faultOf({ status, text }: Reply): string {
  const refused = Refused.safeParse(parsedJson(text));
  const error = refused.success ? refused.data.error : "";
  const message = typeof error === "string" ? error : error.message;
  return `HTTP ${status}${message && `: ${message}`}`;
}

/** fetch says "fetch failed" and hides why. */
const hiddenCause = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;

const codeOf = (thrown: unknown): unknown => (hiddenCause(thrown) as { code?: unknown } | null)?.code;

const causeOf = (thrown: unknown): string =>
  messageOf(hiddenCause(thrown)) || String(codeOf(thrown) ?? "no connection");
