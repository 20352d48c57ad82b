import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { StartError } from "./exit.ts";

/**
 * How the process of an agent is started before the agent may begin: most of a start is the loading of modules, which needs nobody's leave.
 * The supervisor sets the variable and sends one message; the agent waits for that message.
 */
const VARIABLE = "AGENT_START";

/** The environment of an agent's process. */
export const startEnv = (isHeld: boolean): NodeJS.ProcessEnv => ({ [VARIABLE]: isHeld ? "held" : undefined });

/** Lets a held agent begin. One that ends meanwhile cannot be told, which its supervisor learns by its exit. */
export function release(child: ChildProcess): void {
  if (child.connected) child.send("begin", () => {});
}

/** Resolves when the agent of this process may begin: at once, unless it is held. A StartError when its supervisor has ended meanwhile. */
export async function released(): Promise<void> {
  const isHeld = process.env[VARIABLE] === "held";
  // What the agent starts itself is not held with it.
  delete process.env[VARIABLE];
  if (!isHeld) return;
  if (!process.connected) throw new StartError("the command that started this agent has ended");
  await once(process, "message");
}
