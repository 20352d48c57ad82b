import type { JSX } from "preact";
import type { LeagueMatch } from "../game-view.ts";
import { leaguePath, matchPath } from "../texts/league-paths.ts";
import { siteServers } from "./site-servers.ts";

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
