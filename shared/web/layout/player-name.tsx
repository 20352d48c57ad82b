import { Fragment, type JSX } from "preact";
import type { LeagueHeader, PlayerRef } from "#shared/web/league-documents.ts";
import { nameParts, playerPath } from "#shared/web/texts/league-texts.ts";

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

interface TextWithNamesProps {
  readonly text: string;
  readonly names: readonly string[];
}

/** A sentence in which each of these names is isolated, so that the direction of a name does not change the order of the words around it. */
export function TextWithNames({ text, names }: TextWithNamesProps): JSX.Element {
  return (
    <>
      {nameParts(text, names).map((part, index) => (
        <Fragment key={index}>{names.includes(part) ? <bdi>{part}</bdi> : part}</Fragment>
      ))}
    </>
  );
}
