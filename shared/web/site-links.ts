/**
 * The origins of the two servers of a site: the manager with the leagues, and a referee or session host with the games. "" is the server of the page;
 * null is a server that is unknown or that the reader cannot reach.
 */
export interface SiteServers {
  readonly leagues: string | null;
  readonly games: string | null;
}

export type SitePart = "leagues" | "join" | "games" | "new-game";

interface SiteLink {
  readonly part: SitePart;
  readonly text: string;
  readonly href: string;
}

/** Returns the links in the header of every page. */
export function siteLinks({ leagues, games }: SiteServers): readonly SiteLink[] {
  const ofLeagues: readonly SiteLink[] = [
    { part: "leagues", text: "Leagues", href: `${leagues}/leagues` },
    { part: "join", text: "Join", href: `${leagues}/play` },
  ];
  const ofGames: readonly SiteLink[] = [
    { part: "games", text: "Games", href: `${games}/` },
    { part: "new-game", text: "New game", href: `${games}/#new-game` },
  ];
  return [...(leagues === null ? [] : ofLeagues), ...(games === null ? [] : ofGames)];
}

/** An origin over HTTP or HTTPS, without credentials and path. */
const ORIGIN = /^https?:\/\/(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i;

/**
 * Returns the origin at which the browser of a reader reaches another server; null if there is none. `host` is the host at which the reader has opened
 * this server: a loopback address works only for readers at loopback. Other servers announce `origins`, so texts that are no origins are ignored.
 */
export function reachableFrom(host: string, origins: readonly string[]): string | null {
  const hosts = new Map(origins.map((origin) => [origin, ORIGIN.exec(origin)?.[1]?.toLowerCase()]));
  const usable = origins.filter((origin) => hosts.get(origin) !== undefined);
  const reader = host.toLowerCase();
  const isLocal = (origin: string): boolean => isLoopback(hosts.get(origin) ?? "");
  const sameHost = usable.find((origin) => hosts.get(origin) === reader);
  if (sameHost !== undefined) return sameHost;
  const remote = usable.find((origin) => !isLocal(origin)) ?? null;
  return isLoopback(reader) ? (usable.find(isLocal) ?? remote) : remote;
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);

/** Returns the origin of the pages of an agent from its endpoint `http://…/mcp`. */
export const originOf = (endpoint: string): string => endpoint.replace(/\/(mcp\/?)?$/, "");
