import { Fragment, type JSX } from "preact";
import type { LeagueHeader } from "../documents/league.ts";
import type { TeamRow } from "../documents/standings.ts";
import { PlayerName } from "../layout/player-name.tsx";
import { NumberHeadings, RankCell, RankedTable, rowClass } from "./ranked-table.tsx";

interface TeamTableProps {
  readonly league: LeagueHeader;
  readonly teams: readonly TeamRow[];
}

/** The standings of teams. */
export function TeamTable({ league, teams }: TeamTableProps): JSX.Element {
  const headings = <NumberHeadings headings={["Played", "Won", "Drawn", "Lost"]} />;
  return (
    <RankedTable label="Standings of the teams" competitor="Team" headings={headings}>
      {teams.map((team) => (
        <tr
          key={team.team_id}
          class={rowClass(team)}
          data-key={team.team_id}
          data-state={`${team.played} ${team.points}`}
        >
          <RankCell league={league} {...team} />
          <th scope="row">
            {team.members.map((member, index) => (
              <Fragment key={member.player_id}>
                {index > 0 && " & "}
                <PlayerName league={league} player={member} />
              </Fragment>
            ))}
          </th>
          <td class="n points">{team.points}</td>
          <td class="n">{team.played}</td>
          <td class="n">{team.wins}</td>
          <td class="n">{team.draws}</td>
          <td class="n">{team.losses}</td>
        </tr>
      ))}
    </RankedTable>
  );
}
