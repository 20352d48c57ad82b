import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { err, messageOf, type Result } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { FaultCause } from "#shared/session/entry.ts";

/** The reason why a call to another agent returned no usable answer. */
export interface CallFault {
  readonly cause: Exclude<FaultCause, "illegal_move" | "declined" | "bot_error">;
  /** A text for people. It contains no address, host or path of this machine, because a referee publishes it. */
  readonly detail: string;
  /** The error message of the operating system, for the operator of this process. It may name addresses, hosts and paths, so it is never published. */
  readonly systemMessage?: string;
  /** The fields of the request that the called agent rejected, each with its message; absent if it names none. */
  readonly rejectedFields?: string;
  /** The received text, cut to 20,000 characters. It is untrusted: remove control characters before publishing it. */
  readonly raw?: string;
  /** Set if every address refused the connection, so that no program listens there. A reset, a timeout or an unreachable host does not prove that. */
  readonly isNothingListening?: true;
  /** The HTTP status of an answer that is not 2xx; absent for any other fault. */
  readonly status?: number;
}

/** The options of one call. */
export interface CallOptions {
  /** The time limit of the call, including its retries. */
  readonly timeoutMs: number;
  /** Whether to repeat the call after a refused or broken connection until the time limit. Only for requests that may arrive twice. */
  readonly retry?: boolean;
  /** The token that is sent as `Authorization: Bearer`. */
  readonly bearer?: string;
  /** Further headers of an HTTP request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The largest accepted answer, in bytes; 256 KiB by default. */
  readonly maxReplyBytes?: number;
  /** Whether the connection is closed after the answer: a server with one thread serves no other caller while a connection is open. */
  readonly closeConnection?: boolean;
  /** Cancels the call: it settles with the fault `timeout`. */
  readonly signal?: AbortSignal;
  /** Called when the response has been read, with the milliseconds for which it may have waited for this process to read it. */
  readonly onResponse?: (lateMs: number) => void;
  /** Whether the called agent offers a WebSocket at its endpoint. The call is then made over it, or by POST if there is none at the moment. */
  readonly socket?: boolean;
}

/** The request of a call. */
export interface Request {
  readonly endpoint: string;
  readonly method: "POST" | "GET";
  readonly body: string | null;
  /** The JSON-RPC id in the body; 0 if the body is not a JSON-RPC request of this process. */
  readonly id: number;
}

/** A way to send requests to the endpoints of other agents. */
export interface Transport {
  /** Sends the request of a call, and settles the call with the response or a fault. */
  send(request: Request, call: Call): void;
  /** Closes all connections. Calls under way fail. */
  close(): Promise<void>;
}

/** A received response, not yet validated. */
export interface RawReply {
  /** The HTTP status. A response over a WebSocket has the status that belongs to its JSON-RPC error. */
  readonly status: number;
  readonly text: string;
  /** The value of `text` as JSON; null if it is not JSON; absent if it has not been parsed yet. */
  readonly json?: { readonly value: unknown } | null;
  /** The header Retry-After of the response; absent without it. */
  readonly retryAfter?: string;
}

/** Parses a text as JSON. Returns null if it is not JSON. */
export function parsed(text: string): { readonly value: unknown } | null {
  const value = parsedJson(text);
  return value === undefined ? null : { value };
}

/** The longest part of a faulty answer that `CallFault.raw` contains, in characters. */
export const RAW_LIMIT = 20_000;
export const DEFAULT_REPLY_BYTES = 256 * 1024;

/** A call under way. It settles once: with its answer or a fault, at its time limit or when its signal is aborted. Then it calls `onSettled`. */
export class Call {
  readonly bearer: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly maxReplyBytes: number;
  readonly closesConnection: boolean;
  /** Called once, after the call has settled; `isAnswered` is false for faults. */
  onSettled: ((isAnswered: boolean) => void) | null = null;
  isSettled = false;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (result: Result<RawReply, CallFault>) => void;
  readonly #reject: (error: Error) => void;
  readonly #cancelTimer: Cancel;

  constructor(
    options: CallOptions,
    clock: Clock,
    resolve: (result: Result<RawReply, CallFault>) => void,
    reject: (error: Error) => void,
  ) {
    this.bearer = options.bearer;
    this.headers = options.headers;
    this.closesConnection = options.closeConnection ?? false;
    this.maxReplyBytes = options.maxReplyBytes ?? DEFAULT_REPLY_BYTES;
    this.#timeoutMs = options.timeoutMs;
    this.#signal = options.signal;
    this.#resolve = resolve;
    this.#reject = reject;
    // If the timer of a busy process fires late, an answer that is already in the socket buffer has arrived in time and is read first.
    this.#cancelTimer = clock.after(options.timeoutMs, () => clock.defer(this.#settleLate));
    if (options.signal) callsUnder(options.signal).add(this);
  }

  readonly #settleLate = (): void => this.settle(timedOut(this.#timeoutMs));

  cancel(): void {
    this.settle(CANCELLED);
  }

  /** Resolves the call, unless it has settled. */
  settle(result: Result<RawReply, CallFault>): void {
    if (this.isSettled) return;
    this.#end();
    this.#resolve(result);
    this.onSettled?.(result.ok);
  }

  /** Rejects the call because this machine has a shortage of files, memory or ports, which is not a fault of the called agent. */
  reject(error: Error): void {
    if (this.isSettled) return;
    this.#end();
    this.#reject(error);
    this.onSettled?.(false);
  }

  #end(): void {
    this.isSettled = true;
    this.#cancelTimer();
    if (this.#signal) callsUnder(this.#signal).delete(this);
  }
}

/** The result of a call whose signal was aborted. */
export const CANCELLED = err({ cause: "timeout", detail: "the call was cancelled" } as const);

/** The result of a call whose answer is larger than its limit. `raw` is the start of the answer. */
export const tooLarge = (limitBytes: number, raw?: string) =>
  err({
    cause: "too_large",
    detail: `the answer is larger than ${limitBytes} bytes`,
    ...(raw !== undefined && { raw }),
  } as const);

const timedOut = (timeoutMs: number) =>
  err({ cause: "timeout", detail: `no answer within ${Math.round(timeoutMs)} ms` } as const);

/** The calls that each signal cancels. All calls under a signal share one listener, because a match makes hundreds of calls under one signal. */
const callsBySignal = new WeakMap<AbortSignal, Set<Call>>();

function callsUnder(signal: AbortSignal): Set<Call> {
  const known = callsBySignal.get(signal);
  if (known) return known;
  const calls = new Set<Call>();
  callsBySignal.set(signal, calls);
  signal.addEventListener("abort", () => {
    for (const call of calls) call.cancel();
  });
  return calls;
}

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
