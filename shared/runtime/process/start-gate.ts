import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { StartError } from "./exit.ts";

/**
 * The start gate of an agent's process. An agent imports its modules immediately, which takes most of its start, and then waits for the `begin`
 * message of its supervisor. The supervisor sets this variable to `held` if the agent has to wait.
 */
const VARIABLE = "AGENT_START";

/** The environment of an agent's process. */
export const startGateEnv = (isHeld: boolean): NodeJS.ProcessEnv => ({ [VARIABLE]: isHeld ? "held" : undefined });

/** Lets an agent begin. If its process has just ended, the message is lost, and the supervisor receives its exit. */
export function openStartGate(child: ChildProcess): void {
  if (child.connected) child.send("begin", () => {});
}

/** Resolves when the agent of this process may begin: immediately, if it does not have to wait. StartError: its supervisor has ended. */
export async function startGateOpened(): Promise<void> {
  const isHeld = process.env[VARIABLE] === "held";
  // Child processes of this agent do not wait.
  delete process.env[VARIABLE];
  if (!isHeld) return;
  if (!process.connected) throw new StartError("the command that started this agent has ended");
  await once(process, "message");
}
