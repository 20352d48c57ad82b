import type { JSX } from "preact";
import type { OverviewDocument } from "../documents/overview.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { PlayerName } from "../layout/player-name.tsx";
import type { PageProps } from "./page-props.ts";

/** The first page of a league. */
export function OverviewPage({ document, problem }: PageProps<OverviewDocument>): JSX.Element {
  const { league, leaders } = document;
  return (
    <LeagueLayout league={league} section="" problem={problem}>
      <ol class="leaders">
        {leaders.map((row) => (
          <li key={row.player_id}>
            <PlayerName league={league} player={row} /> {row.points}
          </li>
        ))}
      </ol>
    </LeagueLayout>
  );
}
