import { z } from "zod";

/** What an agent process tells the command that started it. */
export const AgentReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), url: z.string() }),
  z.object({ type: z.literal("event"), event: z.unknown() }),
  /** It ends for a reason that a restart would not remove. */
  z.object({ type: z.literal("cannot_go_on") }),
]);
export type AgentReport = z.infer<typeof AgentReport>;
