import type { z } from "zod";
import { messageOf } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { isOnLoopback } from "#shared/protocol/addresses.ts";
import { faultsText, fieldFaults, type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { httpUrl } from "#shared/rpc/http/machine-addresses.ts";
import { type CallFault, operatorText } from "#shared/rpc/peer/call.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess } from "./agent.ts";
import { exitOfRejection, StartError } from "./process/exit.ts";
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

/** The agent can enter no league now, but perhaps one that is opened later. */
export class NoOpenLeague extends StartError {}

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
    cause?: string | null | undefined;
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
      const { status, auth_token: token, reason, error_code, retryable, cause } = response.data;
      if (status !== "ACCEPTED" || !token) {
        const hint = error_code === "L003" ? `; the token that was sent is in ${options.tokenFile}` : "";
        const why = `registration was rejected: ${inOneLine(reason ?? "no reason given")}`;
        if (cause === "no_open_league") throw new NoOpenLeague(why);
        if (retryable !== true || status === "ACCEPTED")
          throw new StartError(`${why}${hint}`, exitOfRejection(error_code, cause));
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
function reportUnreachable(
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

interface Advice {
  /** Matches the error message of the system. */
  readonly error: RegExp;
  readonly cause: (host: string) => string;
  /** What to do next. */
  readonly step: string;
}

const ADVICE: readonly Advice[] = [
  {
    error: /wrong version number|packet length too long/i,
    cause: () => "the program at this port does not use TLS",
    step: "Begin the address with http:// instead of https://, or name the port of the proxy that uses TLS",
  },
  {
    error: /\bENOTFOUND\b/,
    cause: (host) => `the host name ${host} is unknown`,
    step: "Correct the name, or give the IP address",
  },
  {
    error: /\bEAI_AGAIN\b/,
    cause: (host) => `the DNS server does not answer the question for ${host}`,
    step: "Check the network of this machine, or give the IP address",
  },
  {
    error: /self-signed certificate|unable to (?:verify|get)/i,
    cause: () => "its certificate is not from a known authority",
    step: "Start again with the certificate of the authority in the environment variable NODE_EXTRA_CA_CERTS=FILE",
  },
  {
    error: /does not match certificate's altnames/i,
    cause: (host) => `its certificate is not for ${host}`,
    step: "Give the address with the name in the certificate",
  },
  {
    error: /not HTTP|Expected HTTP\//,
    cause: () => "the answer is not HTTP",
    step: "Does it use TLS? Then begin the address with https://",
  },
];

const OPEN = "Is the address right, and is the manager open to other machines (league serve --lan)?";

/** Returns why no manager answers at an address, from the error message of the system, and what to do next; empty if nothing but waiting helps. */
export function unreachableText(manager: string, error: string): { readonly why: string; readonly step: string } {
  const advice = ADVICE.find((one) => one.error.test(error));
  if (advice) return { why: advice.cause(new URL(manager).hostname), step: advice.step };
  return { why: inOneLine(error), step: isOnLoopback(manager) ? "" : OPEN };
}

const ADDRESS = "Give the address that the manager prints at its start; it ends with /mcp";

/** Returns the message that another program than a manager has answered a registration; null if it was a manager. */
export function strangerText(manager: string, { cause, detail, status = 0 }: CallFault): string | null {
  const stranger = (step: string): string => `no league manager answers at ${manager}: ${inOneLine(detail)}. ${step}`;
  if (cause === "bad_json" || detail === "the answer is not a JSON-RPC response") return stranger(ADDRESS);
  if (detail !== `HTTP ${status}`) return null;
  if (status >= 300 && status < 400) return stranger("Give the address to which it forwards, e.g. with https://");
  if (status === 404 || status === 405) return stranger(ADDRESS);
  return status === 400 ? stranger("Does it use TLS? Then begin the address with https://") : null;
}

/** The registration that a manager has accepted. Registering again changes it. */
interface KnownAs {
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
