import { equalSecrets, hmacBase64Url } from "#shared/lib/hash.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { Caller } from "#shared/rpc/http/request.ts";

/** The header of a request that a manager has passed on: its caller, signed with the secret of the run. */
export const HEADER = "league-forwarded";

/** Signs the caller of a request for another manager of the run. */
export interface CallerSignature {
  headersFor(caller: Caller): Readonly<Record<string, string>>;
  /** Returns the caller in a header; null if no manager of the run has signed it. */
  callerIn(header: string | string[] | undefined): Caller | null;
}

export function callerSignature(secret: string): CallerSignature {
  const sign = (caller: string): string => hmacBase64Url(secret, `forwarded\n${caller}`);
  return {
    headersFor({ remoteAddress, origin }) {
      const caller = Buffer.from(JSON.stringify([remoteAddress, origin])).toString("base64url");
      return { [HEADER]: `${caller}.${sign(caller)}` };
    },
    callerIn(header) {
      if (typeof header !== "string") return null;
      const [caller = "", signed = ""] = header.split(".");
      if (!equalSecrets(signed, sign(caller))) return null;
      const [remoteAddress, origin] = parsedJson(Buffer.from(caller, "base64url").toString()) as [string, string];
      return { remoteAddress, origin };
    },
  };
}
