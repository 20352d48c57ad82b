import { newEnvelope } from "../protocol/envelope.ts";
import { asRefused, type Peers } from "../rpc/peer/peer.ts";
import type { AgentProcess } from "./agent.ts";
import { StartError } from "./process/exit.ts";

/** The registration that a manager has accepted. Registering again changes it. */
export interface KnownAs {
  /** `player:P01` or `referee:REF01`. */
  readonly sender: string;
  readonly name: string;
  readonly token: string;
}

interface KeptOptions {
  readonly peers: Peers;
  readonly manager: string;
  readonly self: AgentProcess;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly knownAs: () => KnownAs;
  /** Registers the agent again. Rejects with StartError if the manager rejects the registration. */
  readonly registerAgain: () => Promise<void>;
}

export interface KeptRegistration {
  /** How often the agent has registered again. */
  renewals(): number;
  /** Registers again if the manager does not know the agent. A caller whose message was rejected repeats it if `renewals` has changed since. */
  renew(): Promise<void>;
}

/** How often an agent asks the manager whether it is registered. */
export const CHECK_EVERY_MS = 30_000;

/**
 * Keeps an agent registered: it registers again when the manager does not know it, which happens after its database was restored to a moment before the
 * registration. Prints one line then. Asks regularly until `signal` is aborted, because no message reaches an agent that the manager does not know.
 */
export function keepRegistered(options: KeptOptions): KeptRegistration {
  const { self, signal, knownAs, registerAgain } = options;
  let underway: Promise<void> | null = null;
  let renewals = 0;
  let reported: string | null = null;
  const renewOnce = async (): Promise<void> => {
    if (!(await isForgotten(options))) return;
    const { sender } = knownAs();
    try {
      await registerAgain();
    } catch (thrown) {
      if (!(thrown instanceof StartError)) throw thrown;
      const line = `the manager does not know ${sender} any more, and ${thrown.message}`;
      if (!signal.aborted && line !== reported) self.warn(line);
      reported = line;
      return;
    }
    renewals++;
    reported = null;
    self.warn(`the manager did not know ${sender} any more; registered again as ${knownAs().sender}`);
  };
  const renew = (): Promise<void> => {
    underway ??= renewOnce().finally(() => {
      underway = null;
    });
    return underway;
  };
  const cancel = self.clock.every(CHECK_EVERY_MS, () => void renew());
  signal.addEventListener("abort", cancel);
  return { renew, renewals: () => renewals };
}

/** Whether the manager answers that this agent must register again. */
async function isForgotten({ peers, manager, self, signal, timeoutMs, knownAs }: KeptOptions): Promise<boolean> {
  const { sender, name, token } = knownAs();
  const envelope = newEnvelope(
    "GET_REGISTRATION",
    sender,
    { display_name: name },
    { messageId: self.ids.uuid(), authToken: token, at: self.clock.iso() },
  );
  const reply = await peers.message(manager, envelope, { timeoutMs, bearer: token, signal }).catch(asRefused);
  if (signal.aborted || !reply.ok) return false;
  const { error_code, retryable } = reply.value.payload;
  return error_code === "L004" && retryable === true;
}
