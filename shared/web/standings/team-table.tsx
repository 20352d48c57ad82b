import { Fragment, type JSX } from "preact";
import { useRef } from "preact/hooks";
import type { LeagueHeader } from "../documents/league.ts";
import type { TeamRow } from "../documents/standings.ts";
import { PlayerName } from "../layout/player-name.tsx";
import { Movement } from "./marks.tsx";
import { NumberHeadings } from "./standings-table.tsx";
import { useRowMotion } from "./use-row-motion.ts";

interface Props {
  readonly league: LeagueHeader;
  readonly teams: readonly TeamRow[];
}

/** The standings of teams. */
export function TeamTable({ league, teams }: Props): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null);
  useRowMotion(body);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="wide" tabIndex={0} aria-label="Standings of the teams">
      <table class="data standings">
        <thead>
          <tr>
            <th scope="col" class="rank">
              <abbr title="Rank">#</abbr>
            </th>
            <th scope="col">Team</th>
            <th scope="col" class="n points">
              Points
            </th>
            <NumberHeadings headings={["Played", "Won", "Drawn", "Lost"]} />
          </tr>
        </thead>
        <tbody ref={body}>
          {teams.map((team) => (
            <tr key={team.team_id} data-key={team.team_id} data-state={`${team.played} ${team.points}`}>
              <td class="rank">
                {team.rank}
                <Movement by={team.movement} />
              </td>
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
        </tbody>
      </table>
    </section>
  );
}
