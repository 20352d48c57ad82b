import type { JSX } from "preact";
import { LeagueLayout, LiveText, type PageProps, PagesOfList } from "#shared/web/layout/league-layout.tsx";
import type { StandingsDocument } from "#shared/web/league-documents.ts";
import { matchSentence } from "#shared/web/texts/league-texts.ts";
import { OrderText, StandingsTable, TeamTable, TieBreakRules } from "./standings-table.tsx";

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
