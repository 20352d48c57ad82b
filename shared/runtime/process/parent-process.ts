import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";
import { StartError } from "./exit.ts";

/**
 * The environment variable that makes an agent wait at its start gate. Its supervisor sets the variable to `held`. The
 * agent imports its modules immediately, which takes most of its start, and then waits for the supervisor's `begin`
 * message.
 */
const VARIABLE = "AGENT_START";

/** Returns the environment variables of the start gate for an agent's process. */
export const startGateEnv = (mustWait: boolean): NodeJS.ProcessEnv => ({ [VARIABLE]: mustWait ? "held" : undefined });

/**
 * Lets an agent begin. If its process has just ended, the message is lost, and the supervisor is notified of the exit.
 */
export function openStartGate(child: ChildProcess): void {
  if (child.connected) child.send("begin", () => {});
}

/**
 * Resolves when the agent of this process may begin, immediately if it does not have to wait. Throws a StartError if
 * its supervisor has ended.
 */
export async function waitForStartGate(): Promise<void> {
  const mustWait = process.env[VARIABLE] === "held";
  // Child processes of this agent do not wait.
  delete process.env[VARIABLE];
  if (!mustWait) return;
  if (!process.connected) throw new StartError("the command that started this agent has ended");
  await once(process, "message");
}

/** A report of an agent's process to the command that started it. */
export const AgentReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), url: z.string() }),
  z.object({ type: z.literal("event"), event: z.unknown() }),
  /** The agent ends for a reason that a restart does not remove. */
  z.object({ type: z.literal("cannot_continue") }),
]);
export type AgentReport = z.infer<typeof AgentReport>;
