import { z } from "zod";

/** A report of an agent's process to the command that started it. */
export const AgentReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), url: z.string() }),
  z.object({ type: z.literal("event"), event: z.unknown() }),
  /** The agent ends for a reason that a restart does not remove. */
  z.object({ type: z.literal("cannot_continue") }),
]);
export type AgentReport = z.infer<typeof AgentReport>;
