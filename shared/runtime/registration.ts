import type { z } from "zod";
import { inOneLine } from "../lib/text.ts";
import { faultsText, fieldFaults, newEnvelope } from "../protocol/envelope.ts";
import type { MessageType } from "../protocol/message-types.ts";
import type { CallFault } from "../rpc/peer/call.ts";
import { operatorText } from "../rpc/peer/connection-fault.ts";
import { asRefused, type Peers } from "../rpc/peer/peer.ts";
import type { AgentProcess } from "./agent.ts";
import { reportUnreachable } from "./contact-endpoint.ts";
import { strangerText } from "./manager-advice.ts";
import { StartError } from "./process/exit.ts";
import { readOrCreateSecret, type Secrets } from "./secret-file.ts";

interface RegistrationOptions<Response> {
  readonly peers: Peers;
  /** The manager's endpoint, `http://…/mcp`. */
  readonly manager: string;
  readonly type: MessageType;
  /** `player:NAME` or `referee:NAME`. Before its registration an agent uses its name as its id. */
  readonly sender: string;
  readonly payload: object;
  readonly response: z.ZodType<Response>;
  readonly timeoutMs: number;
  /** The agent's token, from `acquireToken`. */
  readonly token: string;
  readonly tokenFile: string;
  readonly self: AgentProcess;
  readonly signal: AbortSignal;
}

const FIRST_RETRY_MS = 25;
const LAST_RETRY_MS = 500;
/** The pause after a rejection that is retryable (PROTOCOL.md, section 2). */
const REJECTED_RETRY_MS = 1_000;
/** A registration that takes longer is reported: the manager then waits for its database, for example. */
const SLOW_MS = 2_000;
const REPLY_BYTES = 64 * 1024 * 1024;

/** The manager has too many callers, or is behind a proxy that cannot reach it. */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns whether a repeated call may succeed: no manager answered, or its status is temporary. */
const isTemporary = ({ cause, status = 0 }: CallFault): boolean =>
  cause === "refused" || cause === "timeout" || TEMPORARY_STATUSES.has(status);

/**
 * Returns the token that an agent chooses for itself. It is stored in a file (mode 0600) before it is sent, so that an
 * agent that was killed registers again with the same token. The file is locked until `signal` is aborted. Throws a
 * StartError if another process has locked it, because two agents with one token would be one agent to the manager.
 */
export function acquireToken(self: Secrets, tokenFile: string, sender: string, signal: AbortSignal): string {
  const lock = self.disk.lock(tokenFile);
  if (!lock) {
    throw new StartError(
      `${sender} is already running with the token in ${tokenFile}: stop it, or use another --name or --data`,
    );
  }
  signal.addEventListener("abort", () => lock.release());
  return readOrCreateSecret(self, tokenFile);
}

const stopped = (): StartError => new StartError("stopped before it was registered");

/**
 * Registers with the manager. Retries while no manager answers and after a retryable rejection, until `signal` is
 * aborted. Returns the manager's answer and the token in it, which has been stored. It is the agent's own token unless
 * the manager has chosen another one. Throws a StartError after any other rejection, and if `signal` is aborted.
 */
export async function register<
  Response extends {
    status: string;
    auth_token?: string | null | undefined;
    reason?: string | null | undefined;
    error_code?: string | null | undefined;
    retryable?: boolean | null | undefined;
  },
>(options: RegistrationOptions<Response>): Promise<{ response: Response; token: string }> {
  const { peers, manager, self, signal, token: sentToken } = options;
  let hasReported = false;
  let wasRejected = false;
  for (let attempt = 0; ; attempt++) {
    const envelope = newEnvelope(options.type, options.sender, options.payload, {
      messageId: self.ids.uuid(),
      authToken: sentToken,
      at: self.clock.iso(),
    });
    const call = { timeoutMs: options.timeoutMs, maxReplyBytes: REPLY_BYTES, signal };
    const cancel = self.clock.after(SLOW_MS, () => {
      if (!hasReported) self.warn(`the manager at ${manager} has not answered the registration yet; waiting for it`);
      hasReported = true;
    });
    const reply = await peers.message(manager, envelope, call).catch(asRefused).finally(cancel);
    if (signal.aborted) throw stopped();
    if (reply.ok) {
      const response = options.response.safeParse(reply.value.payload);
      if (!response.success) {
        const faults = faultsText(fieldFaults(response.error, "payload"));
        throw new StartError(`the manager at ${manager} answered ${reply.value.type}, not a registration: ${faults}`);
      }
      const { status, auth_token: token, reason, error_code, retryable } = response.data;
      if (status !== "ACCEPTED" || !token) {
        const hint = error_code === "L003" ? `. The token that was sent is in ${options.tokenFile}` : "";
        const why = `registration was rejected: ${inOneLine(reason ?? "no reason given")}`;
        if (retryable !== true || status === "ACCEPTED") throw new StartError(`${why}${hint}`);
        if (!wasRejected) self.warn(`${why}. Trying again every second`);
        wasRejected = true;
        if (!(await self.clock.pause(REJECTED_RETRY_MS, signal))) throw stopped();
        continue;
      }
      if (token !== sentToken) self.disk.writeSecret(options.tokenFile, token);
      return { response: response.data, token };
    }
    if (!isTemporary(reply.error)) {
      const stranger = strangerText(manager, reply.error);
      if (stranger !== null) throw new StartError(stranger);
      const why = reply.error.rejectedFields ?? inOneLine(operatorText(reply.error));
      throw new StartError(`the manager at ${manager} rejected the registration: ${why}`);
    }
    if (attempt % 20 === 0) reportUnreachable(self, manager, operatorText(reply.error), attempt);
    await self.clock.pause(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt), signal);
  }
}
