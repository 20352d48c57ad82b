import type { SiteServers } from "../site-links.ts";

/** The servers of the site, which the server of the page has written into it. A board in another program knows none. */
export function siteServers(): SiteServers {
  const { leagues = null, games = null } = document.documentElement.dataset;
  return { leagues, games };
}
