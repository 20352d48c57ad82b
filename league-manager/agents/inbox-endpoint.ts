/**
 * The endpoint of a player that cannot be called, in its profile. It is not the URL of its inbox, because the manager may have another address after
 * a restart, and each referee may reach the manager at another one.
 */
const INBOX_SCHEME = "inbox://";

/** Follows the id in the endpoint of a player whose inbox the manager itself reads. */
const HOSTED_SUFFIX = "/hosted";

/** Returns the endpoint of a player with an inbox. `isHosted`: a person or a model, whose inbox the manager itself reads. */
export const inboxEndpoint = (playerId: string, isHosted: boolean): string =>
  `${INBOX_SCHEME}${playerId}${isHosted ? HOSTED_SUFFIX : ""}`;

/** Whether an endpoint is that of a hosted player. */
export const isHosted = (endpoint: string): boolean =>
  endpoint.startsWith(INBOX_SCHEME) && endpoint.endsWith(HOSTED_SUFFIX);

/** Returns the id of the player whose inbox an endpoint, or a URL below it, denotes; null for any other endpoint. */
export function inboxOwnerOf(endpoint: string): string | null {
  return endpoint.startsWith(INBOX_SCHEME) ? (endpoint.slice(INBOX_SCHEME.length).split("/", 1)[0] ?? "") : null;
}
