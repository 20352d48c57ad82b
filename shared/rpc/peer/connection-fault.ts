import { err, messageOf } from "../../lib/result.ts";
import type { Call, CallFault } from "./call.ts";

/** Texts that a referee may publish in the log of a match. Error messages of the system are not published, because they name addresses, hosts and paths. */
const PUBLIC_TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  UND_ERR_SOCKET: "connection closed before the end of the answer",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "host not found",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
};
/** Error codes of a shortage on this machine. It is not a fault of the called agent, so such a call rejects. */
const LOCAL_SHORTAGES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EADDRNOTAVAIL", "ENOBUFS"]);
const TLS_CODE = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH)/;
/** The form of the error codes of Node, undici and OpenSSL. Other codes are not published. */
const CODE = /^[A-Z][A-Z0-9_]{1,60}$/;

/** Returns the fault of a call whose connection failed with this error. */
export function connectionFault(error: unknown): CallFault {
  const fault = { cause: "refused", detail: publicText(error), systemMessage: messageOf(error) } as const;
  return isNothingListening(error) ? { ...fault, isNothingListening: true } : fault;
}

/** Ends a call whose connection failed: rejects it if this machine has a shortage, otherwise settles it with a fault of the connection. */
export function endFailed(call: Call, error: Error): void {
  if (LOCAL_SHORTAGES.has(codeOf(error))) call.reject(error);
  else call.settle(err(connectionFault(error)));
}

/** Returns the reason why a call failed, for the operator of this process; it may name addresses, hosts and paths. */
export const operatorText = ({ systemMessage, detail }: CallFault): string => systemMessage || detail;

/** Returns the code of an error, such as `ECONNREFUSED`; empty if it has none. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? "";

/** Returns the code of each error: a connection to a host name with several addresses fails with one error per address. */
const codesOf = (error: unknown): readonly string[] =>
  error instanceof AggregateError ? error.errors.map(codeOf) : [codeOf(error)];

const isNothingListening = (error: unknown): boolean => {
  const codes = codesOf(error);
  return codes.length > 0 && codes.every((code) => code === "ECONNREFUSED");
};

/** Returns the text for the first error that has a code. */
function publicText(error: unknown): string {
  // Some of these errors of undici have no code.
  if (error instanceof Error && error.name === "HTTPParserError") return "the answer is not HTTP";
  const code = codesOf(error).find((one) => CODE.test(one));
  if (code === undefined) return "connection failed";
  if (TLS_CODE.test(code)) return `TLS error ${code}`;
  return PUBLIC_TEXTS[code] ?? `connection failed (${code})`;
}
