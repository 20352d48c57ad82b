/** What goes back over HTTP; an empty body answers notifications. */
export interface HttpReply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is known of a caller besides what it says. */
export interface HttpContext {
  /** From `Authorization: Bearer`. */
  readonly bearer: string | null;
  readonly remoteAddress: string;
}

/** Answers the body of one `POST /mcp`; never rejects. The MCP SDK's transports take their place behind this same door. */
export type McpDoor = (body: string, http: HttpContext) => Promise<HttpReply>;
