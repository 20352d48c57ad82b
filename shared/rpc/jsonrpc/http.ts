import type { CallerInput } from "./input.ts";
import type { RejectedRequest } from "./rejection-log.ts";

/** What goes back over HTTP; an empty body answers notifications. */
export interface HttpReply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What follows the body, as it becomes known. */
  readonly more?: AsyncIterable<string>;
}

/** What is known of a caller besides what it says. */
export interface HttpContext {
  /** From `Authorization: Bearer`. */
  readonly bearer: string | null;
  readonly remoteAddress: string;
  /** Whether it speaks as MCP clients do, which want what a tool says as structured content too. */
  readonly isMcpClient?: boolean;
  /** Whether it has declared that it shows MCP Apps. */
  readonly showsApps?: boolean;
  /** The MCP session that a call belongs to; absent outside of sessions. */
  readonly sessionId?: string;
  /** What the caller's user and model can be asked; absent for callers that cannot be asked anything. */
  readonly input?: CallerInput;
  /**
   * A signal that is aborted when the caller has gone or has cancelled its request. It is made at the first call, because hardly any request
   * waits for anything; the calls of a batch share it.
   */
  readonly gone?: () => AbortSignal;
  /** Tells a caller that asked for it how far its request is. */
  readonly progress?: (done: number, total: number, message: string) => void;
  /** Writes to the log that this request, or a part of it, was rejected. */
  readonly logRejection?: ((rejected: RejectedRequest) => void) | undefined;
}

/** Answers the body of one `POST /mcp` in plain JSON; never rejects. */
export type McpHandler = (body: string, http: HttpContext) => Promise<HttpReply>;

/** What a gate says to one request. */
interface GateVerdict {
  /** What is answered instead; null lets the request pass. */
  readonly rejection: HttpReply | null;
  /** Headers about the caller's limits, whether the request passes or not. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Judges a request before anything looks at it; null for a caller without limits. The body is that of `POST /mcp`, else empty. */
export type Gate = (body: string, http: HttpContext) => Promise<GateVerdict | null>;
