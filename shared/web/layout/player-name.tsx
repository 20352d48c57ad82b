import type { JSX } from "preact";
import type { LeagueHeader, PlayerRef } from "../documents/league.ts";
import { playerPath } from "../texts/league-paths.ts";

interface Props {
  readonly league: Pick<LeagueHeader, "league_id">;
  readonly player: PlayerRef;
}

/** The name of a player as a link to its page. A name may be of any length, script and direction. */
export function PlayerName({ league, player }: Props): JSX.Element {
  return (
    <a class="player-name" href={playerPath(league, player)}>
      <bdi>{player.name}</bdi>
    </a>
  );
}
