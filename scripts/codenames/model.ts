import type { Clock } from "#shared/lib/clock.ts";
import type { CallerAnswer, CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";
import { type CompletionFault, Completions, completionOf } from "#shared/rpc/llm/completions.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

export interface ModelOptions {
  /** The base of an OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  /** The API key; never printed. */
  readonly key: string | null;
  /** The maximum number of tokens of an answer; null for the number that the prompt names. */
  readonly maxTokens: number | null;
  /** The time limit for one answer, with pauses and repetitions. */
  readonly timeoutMs: number;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Prints a line for the user. */
  print(line: string): void;
}

/**
 * Answers the prompts of an MCP server with a model at an OpenAI-compatible endpoint. A single failure is returned as a failed answer, and the game
 * repeats the prompt. Rejects with StartError if the endpoint fails three times in a row or rejects the caller, so that no player loses turns by it.
 */
export interface Model {
  answer(prompt: Extract<CallerQuestion, { kind: "prompt" }>): Promise<CallerAnswer>;
  /** Closes the connections to the endpoint. */
  close(): Promise<void>;
}

const FAILURES_IN_A_ROW = 3;
/** The causes for which an endpoint rejects every request of the caller. */
const REJECTIONS: ReadonlySet<CompletionFault["cause"]> = new Set(["wrong_key", "unknown_model"]);

/** Creates a model. */
export function createModel(options: ModelOptions): Model {
  const { timeoutMs, maxTokens, clock, print } = options;
  const completions = new Completions(options);
  const { endpoint } = completions;
  let failures = 0;
  const failed = (message: string, isDown: boolean): CallerAnswer => {
    const reason = printable(message);
    if (isDown && ++failures >= FAILURES_IN_A_ROW) {
      throw new StartError(`the LLM at ${endpoint} failed ${failures} times in a row: ${reason}`, EXIT.failed);
    }
    print(`the LLM gave no answer: ${reason}`);
    return { kind: "failed", reason };
  };

  return {
    close: () => completions.close(),
    async answer({ system, text, maxTokens: maxTokensOfPrompt }) {
      const endsAtMs = clock.monotonic() + timeoutMs;
      const messages = [
        { role: "system", content: system },
        { role: "user", content: text },
      ] as const;
      const completed = await completions.request(
        { messages, maxTokens: maxTokens ?? maxTokensOfPrompt },
        {
          signal: AbortSignal.any([clock.timeout(timeoutMs), options.signal]),
          remainingMs: () => endsAtMs - clock.monotonic(),
          onRepeat: (reason, pauseMs) => print(`the LLM ${reason}; repeating the request in ${pauseMs / 1000} s`),
        },
      );
      options.signal.throwIfAborted();
      const completion = completionOf(completed, (quoted) => completions.masked(quoted));
      if (!completion.ok) {
        const { cause, message, detail } = completion.error;
        if (REJECTIONS.has(cause)) throw new StartError(`the LLM at ${endpoint} answered ${printable(message)}`);
        if (cause === "timeout") return failed(`no answer within ${timeoutMs} ms`, true);
        return failed(cause === "bad_completion" ? detail : message, true);
      }
      failures = 0;
      const { text: answer, refusal, isCutOff } = completion.value;
      if (answer !== "") return { kind: "text", text: answer };
      if (refusal !== null) return failed(`the model refused: ${refusal}`, false);
      return failed(
        `the answer is empty${isCutOff ? ": it was cut off; raise the limit with --max-tokens" : ""}`,
        false,
      );
    },
  };
}

/** Returns a text on one line, without control characters. */
const printable = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, 200);
