import { Fragment, type JSX } from "preact";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import type { LeagueHeader, PlayerRef } from "#shared/web/league-documents.ts";

interface Props {
  readonly league: LeagueHeader;
  readonly winners: readonly PlayerRef[];
}

const MAX_NAMES = 4;

/** The winners of a league. */
export function Winners({ league, winners }: Props): JSX.Element {
  const others = winners.length - MAX_NAMES;
  return (
    <p class="winners">
      <span>{winners.length === 1 ? "Winner" : "Winners"}</span>
      <strong>
        {winners.slice(0, MAX_NAMES).map((player, index) => (
          <Fragment key={player.player_id}>
            {index > 0 && ", "}
            <PlayerName league={league} player={player} />
          </Fragment>
        ))}
        {others > 0 && ` and ${others} more`}
      </strong>
    </p>
  );
}
