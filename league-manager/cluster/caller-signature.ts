import type { Clock } from "#shared/lib/clock.ts";
import { equalSecrets, hmacBase64Url } from "#shared/lib/hash.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { Caller } from "#shared/rpc/http/request.ts";

/** The header of a request that a manager has passed on: its caller and the time, signed with the secret of the run. */
export const SIGNATURE_HEADER = "league-forwarded";

/** The request that a signature is for. */
interface SignedRequest {
  /** The manager that receives it. */
  readonly managerId: string;
  readonly method: string;
  /** Its path and query. */
  readonly target: string;
}

/** Signs the caller of a request for another manager of the run. */
export interface CallerSignature {
  headersFor(caller: Caller, request: SignedRequest): Readonly<Record<string, string>>;
  /** Returns the caller in the header of a request; null if no manager of the run has signed it for this request in the last minute. */
  callerIn(header: string | string[] | undefined, request: SignedRequest): Caller | null;
}

interface SignatureOptions {
  /** The secret of the run. */
  readonly secret: string;
  readonly clock: Pick<Clock, "now">;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
}

/** The largest difference between the time of a signature and the clock of the manager that receives it. */
const WINDOW_MS = 60_000;

export function callerSignature({ secret, clock, warn }: SignatureOptions): CallerSignature {
  let hasWarned = false;
  const sign = (signed: string, { managerId, method, target }: SignedRequest): string =>
    hmacBase64Url(secret, ["forwarded", managerId, method, target, signed].join("\n"));
  const isNow = (atMs: number): boolean => {
    const aheadMs = atMs - clock.now();
    // A signature of the past may be repeated by an attacker, or this process was stopped when it arrived.
    if (aheadMs > WINDOW_MS && !hasWarned) {
      hasWarned = true;
      const seconds = Math.round(aheadMs / 1000);
      const effect = "the requests that it passes on may be rejected";
      warn(`the clock of another manager is ${seconds} s ahead of this one, so ${effect}: synchronize both clocks`);
    }
    return Math.abs(aheadMs) <= WINDOW_MS;
  };
  return {
    headersFor({ remoteAddress, origin }, request) {
      const signed = Buffer.from(JSON.stringify([remoteAddress, origin, clock.now()])).toString("base64url");
      return { [SIGNATURE_HEADER]: `${signed}.${sign(signed, request)}` };
    },
    callerIn(header, request) {
      if (typeof header !== "string") return null;
      const [signed = "", signature = ""] = header.split(".");
      if (!equalSecrets(signature, sign(signed, request))) return null;
      const content = parsedJson(Buffer.from(signed, "base64url").toString()) as [string, string, number];
      const [remoteAddress, origin, atMs] = content;
      return isNow(atMs) ? { remoteAddress, origin } : null;
    },
  };
}
