import { z } from "zod";
import { pause } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { Ask, Said } from "#shared/rpc/input.ts";
import { EXIT, StartError } from "#shared/runtime/exit.ts";

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
const MAX_PAUSES = 5;
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
  const { key, timeoutMs, tell } = options;
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
    const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
    return {
      status: response.status,
      retryAfterS: Number.isFinite(retryAfter) ? Math.min(Math.max(0, retryAfter), A_DAY_S) : null,
      text: await bodyOf(response),
    };
  };

  /** The reply after the pauses that the endpoint asks for, as far as there is time for them. */
  const patiently = async (prompt: Parameters<Model>[0], limit: AbortSignal): Promise<Reply> => {
    for (let pauses = 0; ; pauses++) {
      const reply = await request(prompt, limit);
      if (reply.status === 400 && limitName === "max_tokens" && reply.text.includes("max_completion_tokens")) {
        limitName = "max_completion_tokens";
        continue;
      }
      const mayWait = (reply.status === 429 || reply.status === 503) && reply.retryAfterS !== null;
      if (!mayWait || pauses >= MAX_PAUSES) return reply;
      tell(`the LLM asks for a pause of ${reply.retryAfterS} s`);
      if (!(await pause((reply.retryAfterS ?? 0) * 1000, limit))) return reply;
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
const causeOf = (thrown: unknown): string => {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const { code } = cause as { code?: unknown };
  return messageOf(cause) || String(code ?? "no connection");
};
