import { inOneLine } from "../lib/text.ts";
import { isOnLoopback } from "../protocol/addresses.ts";
import type { CallFault } from "../rpc/peer/call.ts";

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
