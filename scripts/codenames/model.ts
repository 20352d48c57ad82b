import { z } from "zod";
import { parsedJson } from "#shared/lib/text.ts";
import type { Ask, Said } from "#shared/rpc/jsonrpc/input.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { type CompletionOptions, Completions, causeOf, type Reply } from "./completions.ts";

export interface ModelOptions extends CompletionOptions {
  /** For one answer, pauses included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * An OpenAI-compatible endpoint as the model of an MCP host. A single failure is an answer that failed, and the game asks again. If the endpoint
 * is down or rejects the caller, the command ends with a StartError, so that no player loses turns by it.
 */
export type Model = (prompt: Extract<Ask, { kind: "prompt" }>) => Promise<Said>;

const FAILURES_IN_A_ROW = 3;
/** Status codes of an endpoint that rejects every request of the caller. */
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

export function createModel(options: ModelOptions): Model {
  const { key, timeoutMs, tell } = options;
  const completions = new Completions(options);
  const { endpoint } = completions;
  let failures = 0;
  /** One line for people, without control characters and without the key. */
  const clean = (text: string): string => {
    const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
    return (key === null ? line : line.replaceAll(key, "***")).slice(0, 200);
  };
  const failed = (why: string, isDown: boolean): Said => {
    const shown = clean(why);
    if (isDown && ++failures >= FAILURES_IN_A_ROW) {
      throw new StartError(`the LLM at ${endpoint} failed ${failures} times in a row: ${shown}`, EXIT.failed);
    }
    tell(`the LLM gave no answer: ${shown}`);
    return { kind: "failed", why: shown };
  };

  return async (prompt) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    let reply: Reply;
    try {
      reply = await completions.of(prompt, AbortSignal.any([deadline, options.signal]));
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
    const answer = answerIn(completion.data);
    return "text" in answer ? { kind: "text", text: answer.text } : failed(answer.fault, false);
  };
}

/** The text of a completion, or why it has none. */
function answerIn({ choices: [choice] }: z.infer<typeof Completion>): { text: string } | { fault: string } {
  const { content, refusal } = choice?.message ?? {};
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
  // The reasoning that a model writes before its answer is no part of the answer.
  const answer = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  if (answer !== "") return { text: answer };
  if (refusal) return { fault: `it refused: ${refusal}` };
  const cut = choice?.finish_reason === "length" ? ", it was cut off; --max-tokens gives it more room" : "";
  return { fault: `an empty answer${cut}` };
}

function faultOf({ status, text }: Reply): string {
  const refused = Refused.safeParse(parsedJson(text));
  const error = refused.success ? refused.data.error : "";
  const message = typeof error === "string" ? error : error.message;
  return `HTTP ${status}${message && `: ${message}`}`;
}
