import type { FaultCause } from "#shared/session/entry.ts";

/** The fault of a player that did not answer an invitation or a move request, or answered it wrongly. */
export interface AskFault {
  /** G001: the answer was wrong. G002: no answer came in time. */
  readonly code: "G001" | "G002";
  readonly cause: FaultCause;
  /** The reason, for people. */
  readonly detail: string;
  /** The answer as text. */
  readonly raw?: string;
  /** The message of the system about a failed connection. It may contain addresses, so it is only written to the log of the process. */
  readonly systemMessage?: string;
}

/** The size to which `detail` and `raw` of a published fault are cut (PROTOCOL.md, section 2). */
const MAX_BYTES = 2_000;

/** Returns the fault for the session log, which is public after the match: without tokens and the system message, and cut to 2,000 bytes. */
export function publishedFault({ code, cause, detail, raw }: AskFault, matchToken: string): AskFault {
  const clean = (text: string): string => cut(withoutTokens(text, matchToken));
  return { code, cause, detail: clean(detail), ...(raw !== undefined && { raw: clean(raw) }) };
}

/** Removes the match token, and the value of each field whose name ends in "token", also in JSON text within JSON text. */
const withoutTokens = (text: string, matchToken: string): string =>
  (matchToken === "" ? text : text.replaceAll(matchToken, "[removed]")).replace(
    /(\\?"[a-z_]*token\\?"\s*:\s*\\?")[^"\\]*/gi,
    "$1[removed]",
  );

/** Returns the first 2,000 bytes of a text. The option `stream` omits a character that is cut in two. */
const cut = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_BYTES), { stream: true });
