import { messageOf } from "../lib/result.ts";
import { isOnLoopback } from "../protocol/addresses.ts";
import type { Listening } from "../rpc/http/listen.ts";
import { httpUrl } from "../rpc/http/machine-addresses.ts";
import type { AgentProcess } from "./agent.ts";
import { StartError } from "./process/exit.ts";

interface ContactOptions {
  /** The manager's endpoint, `http://…/mcp`. */
  readonly manager: string;
  readonly server: Pick<Listening, "url" | "port" | "isOnEveryAddress">;
  /** Where the agent is reached, as its user says; null for where it listens. */
  readonly endpoint: string | null;
  readonly timeoutMs: number;
  readonly self: Pick<AgentProcess, "say" | "warn" | "clock" | "network">;
  readonly signal: AbortSignal;
}

const RETRY_MS = 500;
const RETRIES_PER_LINE = 20;

/**
 * The endpoint that an agent gives to the manager. An agent that listens on every address gives the one by which it reaches the
 * manager, and keeps trying until it reaches it.
 */
export async function contactEndpoint(options: ContactOptions): Promise<string> {
  const { manager, server, endpoint, self, signal, timeoutMs } = options;
  if (endpoint !== null) return endpoint;
  if (!server.isOnEveryAddress) return `${server.url}/mcp`;
  for (let attempt = 0; ; attempt++) {
    try {
      return `${httpUrl(await self.network.addressToward(manager, timeoutMs), server.port)}/mcp`;
    } catch (thrown) {
      if (attempt % RETRIES_PER_LINE === 0) tellUnreached(self, manager, messageOf(thrown), attempt);
    }
    if (!(await self.clock.pause(RETRY_MS, signal))) throw new StartError("stopped before it was registered");
  }
}

/** Says that the manager does not answer. After the first attempts it is a warning, which is shown in a run too. */
export function tellUnreached(
  self: Pick<AgentProcess, "say" | "warn">,
  manager: string,
  why: string,
  attempt: number,
): void {
  const hint = isOnLoopback(manager)
    ? ""
    : ". Is the address right, and is the manager open to other machines (league serve --lan)?";
  const line = `no manager at ${manager} yet (${why}); trying again${hint}`;
  if (attempt === 0) self.say(line);
  else self.warn(line);
}

/** What distinguishes an agent without a name from others: its port on this machine, else its address and port. */
export function placeName(contact: string): string {
  const url = new URL(contact);
  return isOnLoopback(contact) ? url.port : url.host;
}
