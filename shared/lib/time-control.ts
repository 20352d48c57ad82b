import { z } from "zod";
import "./schema-messages.ts";

/** The longest clock and the largest increment: one day. */
const MAX_MS = 86_400_000;

/** The clocks of a match: each role begins with `initial_ms` and gains `increment_ms` after each of its actions. */
export const TimeControl = z.strictObject({
  initial_ms: z.int().min(1).max(MAX_MS).describe("the time of each role at the start of a match, milliseconds"),
  increment_ms: z
    .int()
    .min(0)
    .max(MAX_MS)
    .default(0)
    .describe("the time that a role gains after each of its actions, milliseconds"),
});
export type TimeControl = Readonly<z.infer<typeof TimeControl>>;

/** Returns a time control as chess players write it, in seconds: `60+1`. */
export const timeControlText = ({ initial_ms, increment_ms }: TimeControl): string =>
  `${initial_ms / 1000}+${increment_ms / 1000}`;

/** Parses a time control in seconds: `60+1`, or `60` without an increment. Returns null if the text is none. */
export function parseTimeControl(text: string): TimeControl | null {
  const [, initial, increment = "0"] = /^(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?$/.exec(text) ?? [];
  const milliseconds = (seconds: string | undefined): number => Math.round(Number(seconds) * 1000);
  const parsed = TimeControl.safeParse({ initial_ms: milliseconds(initial), increment_ms: milliseconds(increment) });
  return parsed.success ? parsed.data : null;
}

/** The clocks of a match at one moment, as messages and views contain them. */
export const ClockState = z.object({
  initial_ms: z.number(),
  increment_ms: z.number(),
  /** The time that each role has left. */
  remaining_ms: z.record(z.string().max(100), z.number()),
});
export type ClockState = Readonly<z.infer<typeof ClockState>>;
