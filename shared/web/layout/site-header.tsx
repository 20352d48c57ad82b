import type { JSX } from "preact";
import type { LeagueMatch } from "#shared/web/game-view.ts";
import { type SitePart, type SiteServers, siteLinks } from "#shared/web/site-links.ts";
import { leaguePath, matchPath } from "#shared/web/texts/league-texts.ts";

interface SiteHeaderProps {
  /** The part of the site that the page belongs to. */
  readonly part: SitePart;
  /** Whether the page is the first one of its part. */
  readonly isFirst?: boolean;
  /** The address of the same page for a projector; absent if it has none. */
  readonly projector?: string;
}

/** The links from each page to all others, at this server and at the other one of the site. */
export function SiteHeader({ part, isFirst = false, projector }: SiteHeaderProps): JSX.Element {
  return (
    <header class="site-head">
      <nav aria-label="Site">
        <a class="brand" href="/" aria-label="Home">
          <Podium />
        </a>
        {siteLinks(siteServers()).map((link) => (
          <a
            key={link.part}
            href={link.href}
            aria-current={part === link.part ? (isFirst ? "page" : "true") : undefined}
          >
            {link.text}
          </a>
        ))}
        {projector !== undefined && (
          <a class="projector-link" href={projector}>
            Projector
          </a>
        )}
      </nav>
    </header>
  );
}

/** The sign of the site: three bars of a podium. */
function Podium(): JSX.Element {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" fill="currentColor">
      <rect x="1" y="8" width="4" height="7" rx="1" />
      <rect x="6" y="3" width="4" height="12" rx="1" />
      <rect x="11" y="10" width="4" height="5" rx="1" />
    </svg>
  );
}

interface MatchRefProps {
  readonly match: LeagueMatch;
}

/** The league and the id of a league match: "spring-cup, match R1M1". */
export const MatchRef = ({ match: { league_id, match_id } }: MatchRefProps): JSX.Element => (
  <>
    <bdi>{league_id}</bdi>, match <bdi>{match_id}</bdi>
  </>
);

/** The same with links to the pages of the league and the match, if the manager is known. */
export function MatchLinks({ match }: MatchRefProps): JSX.Element {
  const { league_id, match_id } = match;
  const { leagues } = siteServers();
  if (leagues === null) return <MatchRef match={match} />;
  return (
    <>
      <a href={leagues + leaguePath(match)}>
        <bdi>{league_id}</bdi>
      </a>
      ,{" "}
      <a href={leagues + matchPath(match, match_id)}>
        match <bdi>{match_id}</bdi>
      </a>
    </>
  );
}

/** The servers of the site, which the server of the page has written into it. A board in another program knows none. */
function siteServers(): SiteServers {
  const { leagues = null, games = null } = document.documentElement.dataset;
  return { leagues, games };
}
