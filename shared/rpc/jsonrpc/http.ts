import type { CallerInput } from "./input.ts";
import type { RejectedRequest } from "./rejection-log.ts";

/** A reply over HTTP. The body is empty if the request has only notifications. */
export interface HttpReply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text that follows the body as soon as it is known. */
  readonly more?: AsyncIterable<string>;
}

/** The caller of a request. */
export interface HttpContext {
  /** The token of `Authorization: Bearer`. */
  readonly bearer: string | null;
  readonly remoteAddress: string;
  /** Whether the caller is an MCP client, which receives the result of a tool as structured content too. */
  readonly isMcpClient?: boolean;
  /** Whether the caller has declared that it shows MCP Apps. */
  readonly showsApps?: boolean;
  /** The MCP session of the call; absent outside of sessions. */
  readonly sessionId?: string;
  /** The questions that the caller can answer; absent for callers that cannot be asked. */
  readonly input?: CallerInput;
  /**
   * Returns a signal that is aborted when the caller closes its connection or cancels its request. It is created at the first call, because
   * few requests wait; the calls of a batch share it.
   */
  readonly gone?: () => AbortSignal;
  /** Reports the progress of the request; absent unless the caller has asked for progress. */
  readonly progress?: (done: number, total: number, message: string) => void;
  /** Logs that this request, or a part of it, was rejected. */
  readonly logRejection?: ((rejected: RejectedRequest) => void) | undefined;
}

/** Answers the body of one `POST /mcp` in plain JSON; never rejects. */
export type McpHandler = (body: string, http: HttpContext) => Promise<HttpReply>;

/** The decision of a gate about one request. */
interface GateVerdict {
  /** The reply to a rejected request; null for an accepted one. */
  readonly rejection: HttpReply | null;
  /** Headers about the caller's limits, for accepted and rejected requests. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Accepts or rejects a request before it is parsed; resolves with null for a caller without limits. `body` is empty except for `POST /mcp`. */
export type Gate = (body: string, http: HttpContext) => Promise<GateVerdict | null>;
