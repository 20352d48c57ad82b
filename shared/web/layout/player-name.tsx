import { Fragment, type JSX } from "preact";
import type { LeagueHeader, PlayerRef } from "../documents/league.ts";
import { playerPath } from "../texts/league-paths.ts";

interface PlayerNameProps {
  readonly league: Pick<LeagueHeader, "league_id">;
  readonly player: PlayerRef;
}

/** The name of a player as a link to its page. A name may be of any length, script and direction. */
export function PlayerName({ league, player }: PlayerNameProps): JSX.Element {
  return (
    <a class="player-name" href={playerPath(league, player)}>
      <bdi>{player.name}</bdi>
    </a>
  );
}

interface NamesProps {
  readonly league: PlayerNameProps["league"];
  readonly players: readonly PlayerRef[];
}

/** The names of several players. */
export function PlayerNames({ league, players }: NamesProps): JSX.Element {
  return (
    <>
      {players.map((player, index) => (
        <Fragment key={player.player_id}>
          {index > 0 && ", "}
          <PlayerName league={league} player={player} />
        </Fragment>
      ))}
    </>
  );
}
