import { z } from "zod";
import { parsedJson } from "#shared/lib/text.ts";
import type { CallerAnswer, CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { type CompletionOptions, Completions, causeOf, type Reply } from "./completions.ts";

export interface ModelOptions extends CompletionOptions {
  /** The time limit for one answer, with pauses and repetitions. */
  readonly timeoutMs: number;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
}

/**
 * Answers the prompts of an MCP server with a model at an OpenAI-compatible endpoint. A single failure is returned as a failed answer, and the game
 * repeats the prompt. Rejects with StartError if the endpoint fails three times in a row or rejects the caller, so that no player loses turns by it.
 */
export type Model = (prompt: Extract<CallerQuestion, { kind: "prompt" }>) => Promise<CallerAnswer>;

const FAILURES_IN_A_ROW = 3;
/** Status codes of an endpoint that rejects every request of the caller. */
const REJECTIONS: ReadonlySet<number> = new Set([401, 403, 404]);

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
const ErrorBody = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) });

/** Creates a model. */
export function createModel(options: ModelOptions): Model {
  const { key, timeoutMs, print } = options;
  const completions = new Completions(options);
  const { endpoint } = completions;
  let failures = 0;
  /** Returns a text on one line, without control characters and without the key. */
  const printable = (text: string): string => {
    const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
    return (key === null ? line : line.replaceAll(key, "***")).slice(0, 200);
  };
  const failed = (message: string, isDown: boolean): CallerAnswer => {
    const reason = printable(message);
    if (isDown && ++failures >= FAILURES_IN_A_ROW) {
      throw new StartError(`the LLM at ${endpoint} failed ${failures} times in a row: ${reason}`, EXIT.failed);
    }
    print(`the LLM gave no answer: ${reason}`);
    return { kind: "failed", reason };
  };

  return async (prompt) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    let reply: Reply;
    try {
      reply = await completions.request(prompt, AbortSignal.any([deadline, options.signal]));
    } catch (thrown) {
      if (options.signal.aborted) throw thrown;
      return failed(deadline.aborted ? `no answer within ${timeoutMs} ms` : causeOf(thrown), true);
    }
    if (REJECTIONS.has(reply.status)) {
      throw new StartError(`the LLM at ${endpoint} answered ${printable(faultOf(reply))}`, EXIT.failed);
    }
    if (reply.status !== 200) return failed(faultOf(reply), true);
    const completion = Completion.safeParse(parsedJson(reply.text));
    if (!completion.success) return failed("the response is not a chat completion", true);
    failures = 0;
    const answer = answerIn(completion.data);
    return "text" in answer ? { kind: "text", text: answer.text } : failed(answer.fault, false);
  };
}

/** Returns the text of a completion, or the reason why it has none. */
function answerIn({ choices: [choice] }: z.infer<typeof Completion>): { text: string } | { fault: string } {
  const { content, refusal } = choice?.message ?? {};
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
  // Some models write their reasoning before the answer.
  const answer = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  if (answer !== "") return { text: answer };
  if (refusal) return { fault: `the model refused: ${refusal}` };
  const cut = choice?.finish_reason === "length" ? ": it was cut off; raise the limit with --max-tokens" : "";
  return { fault: `the answer is empty${cut}` };
}

/** Returns the HTTP status and the error message of a reply. */
function faultOf({ status, text }: Reply): string {
  const parsed = ErrorBody.safeParse(parsedJson(text));
  const error = parsed.success ? parsed.data.error : "";
  const message = typeof error === "string" ? error : error.message;
  return `HTTP ${status}${message && `: ${message}`}`;
}
