import type { ChatMessage, Completion } from "#shared/rpc/llm/completions.ts";
import type { LlmSettings } from "#shared/runtime/config/llm.ts";
import type { Answered, LlmRecord } from "./records.ts";

type Usage = Pick<Answered, "tokens_in" | "tokens_out" | "is_estimated" | "cost">;

/** A rough average for English text. */
const CHARACTERS_PER_TOKEN = 4;
const PRICED_TOKENS = 1_000_000;

/** Returns the tokens and the cost of an answer; zero without an answer. */
export function usageOf(
  messages: readonly ChatMessage[],
  completion: Completion | null,
  price: LlmSettings["price"] | null,
): Usage {
  const estimate = (texts: readonly string[]): number => Math.ceil(texts.join("").length / CHARACTERS_PER_TOKEN);
  const counted = completion?.usage ?? null;
  const tokens_in = counted?.tokensIn ?? (completion ? estimate(messages.map(({ content }) => content)) : 0);
  const tokens_out = counted?.tokensOut ?? (completion ? estimate([completion.text]) : 0);
  const cost = price ? (tokens_in * price.input + tokens_out * price.output) / PRICED_TOKENS : null;
  return { tokens_in, tokens_out, is_estimated: completion !== null && counted === null, cost };
}

/** The sum of the costs and tokens of a player. */
export class Spending {
  #cost = 0;
  #tokens = 0;

  add(record: LlmRecord): void {
    if (record.type !== "answer") return;
    this.#cost += record.cost ?? 0;
    this.#tokens += record.tokens_in + record.tokens_out;
  }

  /** Returns the reason why the budget is spent; null if it is not. Requests under way when it is spent can exceed it. */
  faultOf(budget: LlmSettings["budget"]): string | null {
    if (budget?.cost !== undefined && this.#cost >= budget.cost) return `cost ${this.#cost} of ${budget.cost}`;
    if (budget?.tokens !== undefined && this.#tokens >= budget.tokens)
      return `${this.#tokens} of ${budget.tokens} tokens`;
    return null;
  }
}
