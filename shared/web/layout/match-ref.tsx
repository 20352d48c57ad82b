import type { JSX } from "preact";
import type { LeagueMatch } from "../game-view.ts";

/** The league and the id of a league match: "spring-cup, match R1M1". */
export const MatchRef = ({ match: { league_id, match_id } }: { readonly match: LeagueMatch }): JSX.Element => (
  <>
    <bdi>{league_id}</bdi>, match <bdi>{match_id}</bdi>
  </>
);
