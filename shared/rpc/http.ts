import type { CallerInput } from "./input.ts";

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
  /** The MCP session that a call belongs to; absent outside of sessions. */
  readonly sessionId?: string;
  /** What the caller's user and model can be asked; absent for callers that cannot be asked anything. */
  readonly input?: CallerInput;
  /** Makes a signal that is aborted when the caller has gone or has cancelled its request: hardly any request waits for anything. */
  readonly gone?: () => AbortSignal;
  /** Tells a caller that asked for it how far its request is. */
  readonly progress?: (done: number, total: number, message: string) => void;
}

/** Answers the body of one `POST /mcp` in plain JSON; never rejects. */
export type McpDoor = (body: string, http: HttpContext) => Promise<HttpReply>;

/** Refuses a request before anything looks at it; null lets it pass. */
export type Gate = (body: string, http: HttpContext) => Promise<HttpReply | null>;
