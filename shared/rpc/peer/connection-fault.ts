import { messageOf } from "../../lib/result.ts";
import type { CallFault } from "./pending.ts";

/** Texts for anyone to read: a referee publishes them in the log of a match. Messages of the system name addresses, hosts and paths. */
const PUBLIC_TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  UND_ERR_SOCKET: "connection closed before the end of the answer",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "host not found",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ETIMEDOUT: "no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
};
const TLS_CODE = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH)/;
/** Codes are constants of Node, undici and OpenSSL. */
const CODE = /^[A-Z][A-Z0-9_]{1,60}$/;

/** The fault of a call whose connection failed. */
export function connectionFault(error: unknown): CallFault {
  const fault = { cause: "refused", detail: publicText(error), systemMessage: messageOf(error) } as const;
  return isNothingListening(error) ? { ...fault, isNothingListening: true } : fault;
}

/** Why a call failed, for the operator of this process. */
export const operatorText = ({ systemMessage, detail }: CallFault): string => systemMessage || detail;

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? "";

/** A host name with several addresses has one error for each of them. */
const codesOf = (error: unknown): readonly string[] =>
  error instanceof AggregateError ? error.errors.map(codeOf) : [codeOf(error)];

const isNothingListening = (error: unknown): boolean => {
  const codes = codesOf(error);
  return codes.length > 0 && codes.every((code) => code === "ECONNREFUSED");
};

/** Of several errors the first that has a code. */
function publicText(error: unknown): string {
  // undici leaves out the code of some of these errors.
  if (error instanceof Error && error.name === "HTTPParserError") return "the answer is not HTTP";
  const code = codesOf(error).find((one) => CODE.test(one));
  if (code === undefined) return "connection failed";
  if (TLS_CODE.test(code)) return `TLS error ${code}`;
  return PUBLIC_TEXTS[code] ?? `connection failed (${code})`;
}
