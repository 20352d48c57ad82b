import type { FaultCause } from "#shared/session/entry.ts";

/** Why a player did not answer an invitation or a move request as it had to. */
export interface AskFault {
  /** G001: the answer was wrong. G002: no answer came in time. */
  readonly code: "G001" | "G002";
  readonly cause: FaultCause;
  /** For people. */
  readonly detail: string;
  /** The answer as text. */
  readonly raw?: string;
  /** The system's message about a failed connection, which may name addresses: for this referee's log, never published. */
  readonly systemMessage?: string;
}

/** The size to which `detail` and `raw` of a published fault are cut (PROTOCOL.md, section 2). */
const MAX_BYTES = 2_000;

/** A fault as the session's log may hold it, which is public after the match: without tokens and the system's message, and cut to 2,000 bytes. */
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

/** The first 2,000 bytes. A decoder of a stream leaves out a character that is cut in two. */
const cut = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_BYTES), { stream: true });
