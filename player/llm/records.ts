import { z } from "zod";
import "#shared/lib/schema-messages.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { completionFaults } from "#shared/rpc/llm/completions.ts";
import { answerFaults } from "./answer.ts";

/** The reasons why a model has chosen no action, or an action that was not accepted. */
export const llmFaults = [...completionFaults, ...answerFaults, "budget", "no_record"] as const;

export interface LlmFault {
  readonly cause: (typeof llmFaults)[number];
  /** The public text: it is in the log of the match. */
  readonly detail: string;
  /** The text for the user of the player. It is not in the log of the match. */
  readonly message: string;
}

const at = z.string();
const count = z.int().min(0);

/** The first line of the record of a match. */
const Begin = z.strictObject({
  type: z.literal("begin"),
  ...{ at, league_id: z.string(), match_id: z.string(), epoch: z.int(), game: z.string(), options: z.unknown() },
  ...{ role: z.string(), player_id: z.string(), seed_commitment: z.string() },
  ...{ model: z.string(), prompt_version: z.int(), package_version: z.string(), system: z.string() },
});

/** One answer of the model, or the reason why there is none. */
const Answered = z.strictObject({
  type: z.literal("answer"),
  ...{ at, tick: count, attempt: count, prompt: z.string(), seed: z.int() },
  /** How the answer was requested. */
  mode: z.string(),
  /** null if there is no answer. */
  answer: z.string().nullable(),
  /** The action for the referee; absent if there is none. */
  action: z.unknown().optional(),
  fault: z.strictObject({ cause: z.enum(llmFaults), detail: z.string(), message: z.string() }).nullable(),
  ...{ tokens_in: count, tokens_out: count },
  /** True if the endpoint does not count tokens. They are then estimated from the number of characters. */
  is_estimated: z.boolean(),
  /** null without a price. */
  cost: z.number().nullable(),
  /** The number of HTTP requests, with repetitions, and the duration of the last one. */
  ...{ requests: count, latency_ms: count },
  ...{ answered_by: z.string().nullable(), system_fingerprint: z.string().nullable() },
});
export type Answered = z.infer<typeof Answered>;

/** The referee has rejected an action. */
const Rejected = z.strictObject({ type: z.literal("rejected"), at, tick: count, reason: z.string() });

const End = z.strictObject({
  type: z.literal("end"),
  ...{ at, seed: z.string(), winner: z.string().nullable(), termination: z.string(), reason: z.string() },
});

/** A line of the record of a match. */
export const LlmRecord = z.discriminatedUnion("type", [Begin, Answered, Rejected, End]);
export type LlmRecord = z.infer<typeof LlmRecord>;
export type Begin = z.infer<typeof Begin>;

/** Returns the records in the text of a file. A line that a process did not complete is ignored. */
export const recordsIn = (text: string): readonly LlmRecord[] =>
  text.split("\n").flatMap((line) => LlmRecord.safeParse(parsedJson(line)).data ?? []);
