import type { JSX } from "preact";
import type { GameView } from "../game-view.ts";

interface Props {
  readonly match: GameView["match"];
  /** The text between the match and what follows. */
  readonly after?: string;
}

/** The league and the id of a league match: "spring-cup, match R1M1". Nothing for other games. */
export const MatchRef = ({ match, after = "" }: Props): JSX.Element | null =>
  match ? (
    <>
      <bdi>{match.league_id}</bdi>, match <bdi>{match.match_id}</bdi>
      {after}
    </>
  ) : null;
