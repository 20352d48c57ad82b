import { messageOf } from "../lib/result.ts";
import { isOnLoopback } from "../protocol/addresses.ts";
import type { Listening } from "../rpc/http/listen.ts";
import { httpUrl } from "../rpc/http/machine-addresses.ts";
import type { AgentProcess } from "./agent.ts";
import { unreachableText } from "./manager-advice.ts";
import { StartError } from "./process/exit.ts";

interface ContactOptions {
  /** The manager's endpoint, `http://…/mcp`. */
  readonly manager: string;
  readonly server: Pick<Listening, "url" | "port" | "isOnEveryAddress">;
  /** The endpoint that the user has given; null if the agent is reached at the address on which it listens. */
  readonly endpoint: string | null;
  readonly timeoutMs: number;
  readonly self: Pick<AgentProcess, "say" | "warn" | "clock" | "network">;
  readonly signal: AbortSignal;
}

const RETRY_MS = 500;
const RETRIES_PER_LINE = 20;

/**
 * Returns the endpoint that an agent announces to the manager: the given endpoint, or the address on which the agent
 * listens. An agent that listens on all addresses announces the address from which it reaches the manager, and retries
 * until it does. Throws a StartError if `signal` is aborted.
 */
export async function contactEndpoint(options: ContactOptions): Promise<string> {
  const { manager, server, endpoint, self, signal, timeoutMs } = options;
  if (endpoint !== null) return endpoint;
  if (!server.isOnEveryAddress) return `${server.url}/mcp`;
  for (let attempt = 0; ; attempt++) {
    try {
      return `${httpUrl(await self.network.addressToward(manager, timeoutMs), server.port)}/mcp`;
    } catch (thrown) {
      if (attempt % RETRIES_PER_LINE === 0) reportUnreachable(self, manager, messageOf(thrown), attempt);
    }
    if (!(await self.clock.pause(RETRY_MS, signal))) throw new StartError("stopped before it was registered");
  }
}

/** Reports that the manager does not answer. Reports after the first attempt are warnings, which a run also shows. */
export function reportUnreachable(
  self: Pick<AgentProcess, "say" | "warn">,
  manager: string,
  error: string,
  attempt: number,
): void {
  const { why, step } = unreachableText(manager, error);
  const line = `no manager at ${manager} yet (${why}); trying again${step && `. ${step}`}`;
  if (attempt === 0) self.say(line);
  else self.warn(line);
}

/**
 * Returns the text that distinguishes the display names of agents without a name: the port of an agent on this machine,
 * otherwise its address and port.
 */
export function addressLabel(contact: string): string {
  const url = new URL(contact);
  return isOnLoopback(contact) ? url.port : url.host;
}
