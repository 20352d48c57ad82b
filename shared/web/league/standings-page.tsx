import type { JSX } from "preact";
import type { StandingsDocument } from "../documents/standings.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { LiveText } from "../layout/live-text.tsx";
import { PagesOfList } from "../layout/pages-of-list.tsx";
import { OrderText, StandingsTable, TieBreakRules } from "../standings/standings-table.tsx";
import { TeamTable } from "../standings/team-table.tsx";
import { matchSentence } from "../texts/match-texts.ts";
import type { PageProps } from "./page-props.ts";

/** The standings of a league. */
export function StandingsPage({ document, problem }: PageProps<StandingsDocument>): JSX.Element {
  const { league, rows, teams, tie_breaks, has_byes, last_result } = document;
  return (
    <LeagueLayout league={league} section="standings" problem={problem}>
      <LiveText text={last_result ? matchSentence(last_result) : ""} />
      {teams && (
        <div class="standings-part">
          <h2>Teams</h2>
          <TeamTable league={league} teams={teams} />
        </div>
      )}
      {teams && <h2>Players</h2>}
      <OrderText league={league} />
      <StandingsTable league={league} rows={rows} details={{ tieBreaks: tie_breaks, hasByes: has_byes }} />
      <PagesOfList {...document} />
      <TieBreakRules tieBreaks={tie_breaks} />
    </LeagueLayout>
  );
}
