import { z } from "zod";
import { answerModes } from "../../rpc/llm/answer-format.ts";

/** The environment variable with the API key, if the settings do not name one. It may be missing: local endpoints need no key. */
export const DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY";

/** Fields of a request that the player sets, so that `extra` must not contain them. */
const OWN_FIELDS = [
  "model",
  "messages",
  "temperature",
  "seed",
  "stream",
  "n",
  "response_format",
  "tools",
  "tool_choice",
];
const MAX_EXTRA_CHARACTERS = 2_000;

const hasNoSecrets = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
};

const amount = z.number().min(0);

/** The settings of a player that is a language model. They contain no secrets, because they are recorded and exported. */
export const LlmSettings = z
  .strictObject({
    base_url: z
      .url({ protocol: /^https?$/ })
      .refine(hasNoSecrets, "must have no user, password, query or fragment; the API key is read from the environment")
      .describe("the base of an OpenAI-compatible API, e.g. http://127.0.0.1:11434/v1"),
    model: z.string().min(1).max(200).describe("the name of the model at the endpoint"),
    api_key_env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is the name of an environment variable")
      .optional()
      .describe(`the environment variable with the API key (default: ${DEFAULT_KEY_VARIABLE}, if it is set)`),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe("the temperature of the model (default: that of the endpoint)"),
    max_tokens: z.int().min(1).max(1_000_000).default(2_000).describe("the maximum number of tokens of one answer"),
    answer: z
      .enum(["auto", ...answerModes])
      .default("auto")
      .describe(
        "how an answer is requested: by a JSON schema, a tool call or the text of the prompt; auto: the first of these that the endpoint accepts",
      ),
    price: z
      .strictObject({
        input: amount.describe("the price of 1,000,000 tokens of prompts"),
        output: amount.describe("the price of 1,000,000 tokens of answers"),
      })
      .optional()
      .describe("the prices with which costs are computed, in any currency"),
    budget: z
      .strictObject({
        cost: amount.optional().describe("the maximum cost, in the currency of price"),
        tokens: z.int().min(0).optional().describe("the maximum number of tokens of prompts and answers"),
      })
      .optional()
      .describe("when it is spent, the player sends no more requests and forfeits its matches"),
    extra: z
      .record(z.string(), z.json())
      .refine((extra) => !OWN_FIELDS.some((field) => field in extra), `must not contain ${OWN_FIELDS.join(", ")}`)
      .refine(
        (extra) => JSON.stringify(extra).length <= MAX_EXTRA_CHARACTERS,
        `must have at most ${MAX_EXTRA_CHARACTERS} characters as JSON`,
      )
      .optional()
      .describe(
        'further fields of each request, e.g. {"reasoning_effort": "low"}; a token limit in it replaces max_tokens',
      ),
  })
  .refine(({ budget, price }) => budget?.cost === undefined || price !== undefined, {
    path: ["budget", "cost"],
    message: "needs price",
  });
export type LlmSettings = z.infer<typeof LlmSettings>;
