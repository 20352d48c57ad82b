import type { z } from "zod";
import { pause } from "../lib/clock.ts";
import { newEnvelope } from "../protocol/envelope.ts";
import type { MessageType } from "../protocol/messages.ts";
import { asRefused, type Peers } from "../rpc/peer.ts";
import type { CallFault } from "../rpc/pending.ts";
import { takeFile } from "../store/sqlite.ts";
import type { AgentProcess } from "./agent.ts";
import { tellUnreached } from "./contact.ts";
import { StartError } from "./exit.ts";
import { ownSecret, writeSecret } from "./secret-file.ts";

export interface RegistrationOptions<Response> {
  readonly peers: Peers;
  /** The manager's endpoint, `http://…/mcp`. */
  readonly manager: string;
  readonly type: MessageType;
  /** `player:NAME` or `referee:NAME`: before registration the agent's own name is its id. */
  readonly sender: string;
  readonly payload: object;
  readonly response: z.ZodType<Response>;
  readonly timeoutMs: number;
  /** Where the token is kept (mode 0600), chosen here, so that a restarted agent gets its old id back. */
  readonly tokenFile: string;
  readonly self: AgentProcess;
  readonly signal: AbortSignal;
}

const FIRST_RETRY_MS = 25;
const LAST_RETRY_MS = 500;
const REPLY_BYTES = 64 * 1024 * 1024;

/** Whether it may be otherwise later: nobody there, nobody that has time, or too many callers from this address. */
const isPassing = ({ cause, detail }: CallFault): boolean =>
  cause === "refused" || cause === "timeout" || /^HTTP (429|503)\b/.test(detail);

/**
 * Registers with the manager: keeps trying while none answers, and says so; a rejection is final (StartError), and so is another process
 * that holds the same token, until `signal` is aborted.
 * Returns the manager's answer, whose token has been kept: the agent's own, unless the manager knows better.
 */
export async function register<
  Response extends { status: string; auth_token?: string | null | undefined; reason?: string | null | undefined },
>(options: RegistrationOptions<Response>): Promise<{ response: Response; token: string }> {
  const { peers, manager, self, signal, tokenFile } = options;
  // Two with one token would be one to the manager, and the second would take the first one's matches with it when it leaves.
  const lock = takeFile(tokenFile);
  if (!lock) {
    throw new StartError(`${options.sender} runs already, by the token in ${tokenFile}: take another --name or --data`);
  }
  signal.addEventListener("abort", () => lock.release());
  // On disk before it is sent: if the answer is lost, because one of the two is killed, the agent is known by it when it asks again.
  const own = ownSecret(tokenFile);
  for (let attempt = 0; ; attempt++) {
    const envelope = newEnvelope(options.type, options.sender, options.payload, { authToken: own });
    const call = { timeoutMs: options.timeoutMs, maxReplyBytes: REPLY_BYTES, signal };
    const reply = await peers.message(manager, envelope, call).catch(asRefused);
    if (signal.aborted) throw new StartError("stopped before it was registered");
    if (reply.ok) {
      const response = options.response.safeParse(reply.value.payload);
      if (!response.success)
        throw new StartError(`the manager at ${manager} answered ${reply.value.type}, not a registration`);
      const { status, auth_token: token, reason } = response.data;
      if (status !== "ACCEPTED" || !token)
        throw new StartError(`registration was rejected: ${reason ?? "no reason given"}`);
      if (token !== own) writeSecret(tokenFile, token);
      return { response: response.data, token };
    }
    if (!isPassing(reply.error)) {
      throw new StartError(`the manager at ${manager} refused the registration: ${reply.error.detail}`);
    }
    if (attempt % 20 === 0) tellUnreached(self, manager, reply.error.detail, attempt);
    await pause(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt), signal);
  }
}
