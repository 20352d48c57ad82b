import type { JSX } from "preact";
import type { StandingRow, StandingsDocument } from "../documents/standings.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { PagesOfList } from "../layout/pages-of-list.tsx";
import { PlayerName } from "../layout/player-name.tsx";
import type { PageProps } from "./page-props.ts";

/** The standings of a league. */
export function StandingsPage({ document, problem }: PageProps<StandingsDocument>): JSX.Element {
  return (
    <LeagueLayout league={document.league} section="standings" problem={problem}>
      <StandingsTable document={document} />
      <PagesOfList {...document} />
    </LeagueLayout>
  );
}

function StandingsTable({ document }: { readonly document: StandingsDocument }): JSX.Element {
  const { league, rows, tie_breaks, has_byes } = document;
  if (rows.length === 0) return <p>No player has entered this league yet.</p>;
  const headings = ["Points", "Played", "Won", "Drawn", "Lost", ...(has_byes ? ["Byes"] : [])];
  const columns = [...headings, ...tie_breaks.map(({ heading }) => heading)];
  const numbersOf = (row: StandingRow): readonly (number | null)[] => [
    ...[row.points, row.played, row.wins, row.draws, row.losses],
    ...(has_byes ? [row.byes] : []),
    ...row.tie_breaks,
  ];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="wide" tabIndex={0} aria-label="Standings">
      <table class="data standings">
        <thead>
          <tr>
            <th scope="col" class="n">
              #
            </th>
            <th scope="col">Player</th>
            {columns.map((heading) => (
              <th key={heading} scope="col" class="n">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.player_id}>
              <td class="n">{row.rank}</td>
              <th scope="row">
                <PlayerName league={league} player={row} />
              </th>
              {numbersOf(row).map((value, index) => (
                <td key={columns[index]} class="n">
                  {value ?? ""}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
