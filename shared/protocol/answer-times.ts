import { z } from "zod";

const milliseconds = z.int().min(0);

/** The times of a player's turns in one match, from the request to the arrival of the accepted answer, as its referee measured them. */
export const AnswerTimes = z.object({
  /** The number of turns that were measured. */
  turns: z.int().min(1),
  median_ms: milliseconds,
  p95_ms: milliseconds,
  max_ms: milliseconds,
  /** The tick of the slowest turn. */
  max_tick: z.int().min(0),
  /** The number of invalid answers and illegal actions. */
  invalid: z.int().min(0),
});
export type AnswerTimes = Readonly<z.infer<typeof AnswerTimes>>;
