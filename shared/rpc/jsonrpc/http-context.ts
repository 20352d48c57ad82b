import type { Clock } from "#shared/lib/clock.ts";
import type { CallerInput } from "./caller-input.ts";
import type { RejectedRequest } from "./rejection-log.ts";

/** An HTTP response. Its body is empty for notifications. */
export interface HttpReply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the connection is closed without an answer, so that the caller treats the request like a refused one. */
  readonly isRefused?: true;
}

/** The context of a request: its caller and the operations on its connection. */
export interface HttpContext {
  /** The token of `Authorization: Bearer`; null without one. */
  readonly bearer: string | null;
  /** The IP address of the caller. */
  readonly remoteAddress: string;
  /** The path of the request with its query; absent for requests that did not arrive over HTTP. */
  readonly target?: string;
  /** Whether the request reads a page or another document: GET or HEAD. */
  readonly isRead?: boolean;
  /** The scheme, host and port by which the caller has called this server, e.g. `http://127.0.0.1:8000`; absent as above. */
  readonly origin?: string;
  /** Set if another server of this service has passed the request on, so that this server answers it. */
  readonly isPassedOn?: true;
  /** Set if a page of another site has sent the request in a browser. */
  readonly isCrossOrigin?: true;
  /** Whether the caller accepts event streams, as MCP clients do. Such a caller also receives tool results as structured content. */
  readonly isMcpClient?: boolean;
  /** Whether the caller has declared support for MCP Apps. */
  readonly showsApps?: boolean;
  /** The id of the MCP session of the call; absent outside sessions. */
  readonly sessionId?: string;
  /** The questions that the caller can answer, and its last answer; absent for callers that cannot be asked. */
  readonly input?: CallerInput;
  /**
   * Returns a signal that is aborted when the caller disconnects or cancels the request. It is created at the first call, because few requests need
   * it. The calls of a batch share it.
   */
  readonly abortSignal?: () => AbortSignal;
  /** Sends a progress notification: `done` of `total` steps are complete. Absent unless the caller has requested progress. */
  readonly progress?: (done: number, total: number, message: string) => void;
  /** Logs that this request or a part of it was rejected. */
  readonly logRejection?: ((rejected: RejectedRequest) => void) | undefined;
}

/** Answers the body of one `POST /mcp` in plain JSON. Never rejects. */
export type McpHandler = (body: string, http: HttpContext) => Promise<HttpReply>;

/** The decision of a gate on one request. */
interface GateVerdict {
  /** The answer to a rejected request; null if the request may pass. */
  readonly rejection: HttpReply | null;
  /** The headers about the caller's limits, for accepted and rejected requests. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Decides whether a request may pass, before it is parsed or routed. Resolves with null for a caller without limits. `body` is the body of
 * `POST /mcp`; it is empty for other requests.
 */
export type Gate = (body: string, http: HttpContext) => Promise<GateVerdict | null>;

/** Receives the progress of a call that waits: at its beginning and at intervals. */
export type WaitProgress = (doneMs: number, message: string) => void;

const PROGRESS_EVERY_MS = 5_000;

/** Reports the progress of a wait until it ends. Hosts end calls of which they hear nothing. Resolves with the result of the wait. */
export async function withProgress<T>(
  waiting: Promise<T>,
  message: string,
  { timeoutMs, progress }: { readonly timeoutMs: number; readonly progress?: WaitProgress | undefined },
  clock: Clock,
): Promise<T> {
  if (!progress) return waiting;
  const startedAtMs = clock.monotonic();
  const report = (): void => progress(Math.min(clock.monotonic() - startedAtMs, timeoutMs), message);
  const stopReports = clock.every(PROGRESS_EVERY_MS, report);
  report();
  try {
    return await waiting;
  } finally {
    stopReports();
  }
}
