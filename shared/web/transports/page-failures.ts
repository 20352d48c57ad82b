import { UnansweredError } from "./transport.ts";

/** A failure that a repeated request would not change. */
export class FinalError extends Error {}

/** The server cannot show this game now, for the reason that it has sent. */
export class UnavailableError extends Error {}

/** Returns the error of a request that had no answer. */
export const unreachable = (): Error => new UnansweredError("The server cannot be reached. Try again.");

/** Returns the error of a failed request, with the message of the server's answer `{error: {code, message}}`. */
export async function failureOf(response: Response): Promise<Error> {
  const body = (await response.json().catch(() => null)) as { error?: { message?: unknown } } | null;
  const message = body?.error?.message;
  const text = typeof message === "string" ? message : `The server answered with ${response.status}.`;
  if (response.status === 503 && text === message) return new UnavailableError(text);
  return [401, 403, 404, 410].includes(response.status) ? new FinalError(text) : new Error(text);
}
