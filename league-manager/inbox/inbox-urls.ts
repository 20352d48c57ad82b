import { isOnThisMachine, type MachineAddresses } from "#shared/protocol/addresses.ts";
import { inboxOwnerOf } from "../agents/inbox-endpoint.ts";

/** The URLs at which others reach the manager. */
export interface ManagerUrls {
  /** `manager.endpoint` of the config: the URL of `/mcp` behind a proxy; undefined without one. */
  readonly configured: string | undefined;
  /** The origin for programs on this machine. */
  readonly local: string;
  /** The origins for other machines, the most likely first. */
  readonly remote: readonly string[];
  /** Whether the run has only this manager. With several, the configured URL is that of their proxy, and remains valid when this manager ends. */
  readonly isAlone: boolean;
}

/**
 * Returns the endpoint that START_GAME contains for a player: for a player with an inbox, an ordinary URL on the manager that the referee can call. Other
 * endpoints are returned unchanged.
 */
export function endpointFor(
  referee: { readonly endpoint: string },
  endpoint: string,
  urls: ManagerUrls,
  machineAddresses: MachineAddresses,
): string {
  const playerId = inboxOwnerOf(endpoint);
  if (playerId === null) return endpoint;
  const isLocal = isOnThisMachine(referee.endpoint, machineAddresses);
  const own = isLocal ? urls.local : (urls.remote[0] ?? urls.local);
  const base = isLocal && urls.isAlone ? urls.local : (urls.configured ?? own);
  return new URL(`inbox/${playerId}/mcp`, withSlash(base)).href;
}

/** Returns the URL of an inbox for its player. `origin` is the one by which the player has called the manager; undefined if it is unknown. */
export const inboxUrl = (playerId: string, urls: ManagerUrls, origin: string | undefined): string =>
  new URL(`inbox/${playerId}`, withSlash(urls.configured ?? (origin || urls.local))).href;

/** A relative URL replaces the last segment of the base, which is `mcp` or empty. */
const withSlash = (base: string): string => (base.includes("/", base.indexOf("://") + 3) ? base : `${base}/`);
