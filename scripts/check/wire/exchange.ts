/** One HTTP request with its reply, as they were on the wire. */
export interface Exchange {
  /** The program that sent the request. */
  readonly from: "check" | "player";
  readonly method: string;
  /** The URL of a request to the player, or the path of a request of the player. */
  readonly url: string;
  readonly request: string;
  /** null if no reply arrived. */
  readonly reply: Reply | null;
  /** The reason why the reply is missing or incomplete, for people; null if it is complete. */
  readonly fault: string | null;
  /** The time from the request to the end of the reply or to the fault, in whole milliseconds. */
  readonly durationMs: number;
}

export interface Reply {
  readonly status: number;
  /** The content type; an empty text if the reply has none. */
  readonly contentType: string;
  /** The received part of the body as text. */
  readonly body: string;
  /** The number of bytes that the content-length announces and that have not arrived; absent if there are none. */
  readonly missingBytes?: number;
}

/** Whether a URL is that of an inbox at the manager of the check, whose player polls it. */
export const isInboxUrl = (url: string): boolean => /\/inbox\/[^/]+\/mcp$/.test(url);
