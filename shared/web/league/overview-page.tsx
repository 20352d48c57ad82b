import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { OverviewDocument } from "../documents/overview.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { LiveText } from "../layout/live-text.tsx";
import { PlayerName } from "../layout/player-name.tsx";
import { isProjector } from "../layout/projector.ts";
import { HowToJoin } from "../overview/joining.tsx";
import { MatchList } from "../overview/match-list.tsx";
import { TestResultBox } from "../overview/test-result.tsx";
import { Winners } from "../overview/winners.tsx";
import { OrderText, StandingsTable } from "../standings/standings-table.tsx";
import { TeamTable } from "../standings/team-table.tsx";
import { leaguePath } from "../texts/league-paths.ts";
import { matchSentence } from "../texts/match-texts.ts";
import { MATCH_STATUS_TEXTS } from "../texts/status-texts.ts";
import type { PageProps } from "./page-props.ts";

type OverviewProps = PageProps<OverviewDocument>;

/** The maximum numbers of rows. The view for projectors shows all rows of the document. */
const MAX_LEADERS = 20;
/** In one column, as on a phone, the style shows the first ten leaders. */
const ROWS_IN_ONE_COLUMN = 10;
const MAX_MATCHES = 6;

/** The first page of a league. */
export function OverviewPage(props: OverviewProps): JSX.Element {
  if (isProjector()) return <ProjectorOverview {...props} />;
  const { document, problem } = props;
  const { league, joining, test, winners } = document;
  return (
    <LeagueLayout league={league} section="" problem={problem}>
      <LastResultText document={document} />
      {winners.length > 0 && <Winners league={league} winners={winners} />}
      {joining && <HowToJoin league={league} joining={joining} />}
      {league.status === "open" ? (
        <Entrants document={document} />
      ) : (
        <div class="overview">
          <div>
            {test && <TestResultBox test={test} />}
            <Leaders document={document} maximum={MAX_LEADERS} />
          </div>
          <Matches document={document} maximum={MAX_MATCHES} />
        </div>
      )}
    </LeagueLayout>
  );
}

/** Shows the standings and the matches in turn; before the start, how to join and the players. */
function ProjectorOverview({ document, problem }: OverviewProps): JSX.Element {
  const [isSecond, showSecond] = useState(false);
  const { league, joining, winners, test } = document;
  const isOpen = league.status === "open";
  return (
    <LeagueLayout league={league} section="" problem={problem} onShown={() => showSecond(!isSecond)}>
      <LastResultText document={document} />
      {winners.length > 0 && <Winners league={league} winners={winners} />}
      {isOpen && joining && !isSecond && <HowToJoin league={league} joining={joining} />}
      {isOpen && <Entrants document={document} />}
      {!isOpen && !isSecond && <Leaders document={document} maximum={document.leaders.length} />}
      {!isOpen && isSecond && test && <TestResultBox test={test} />}
      {!isOpen && isSecond && <Matches document={document} />}
    </LeagueLayout>
  );
}

type Part = Pick<OverviewProps, "document">;

function LastResultText({ document: { results } }: Part): JSX.Element {
  const [last] = results;
  return <LiveText text={last ? matchSentence(last) : ""} />;
}

/** The players of a league that has not started. */
function Entrants({ document: { league, leaders } }: Part): JSX.Element {
  const others = league.players - leaders.length;
  return (
    <section aria-labelledby="players-heading">
      <h2 id="players-heading">
        Players <span class="count">{league.players}</span>
      </h2>
      {leaders.length === 0 && <p class="empty">No player has entered this league yet.</p>}
      <ul class="entrants">
        {leaders.map((player) => (
          <li key={player.player_id}>
            <PlayerName league={league} player={player} />
          </li>
        ))}
        {others > 0 && (
          <li>
            <a href={leaguePath(league, "standings")}>{others} more</a>
          </li>
        )}
      </ul>
    </section>
  );
}

function Leaders({ document, maximum }: Part & { readonly maximum: number }): JSX.Element {
  const { league, leaders, teams } = document;
  const heading = league.status === "completed" ? "Final standings" : "Standings";
  const shown = leaders.slice(0, maximum);
  return (
    <section>
      <h2>{teams ? "Teams" : heading}</h2>
      <OrderText league={league} />
      {teams ? (
        <TeamTable league={league} teams={teams.slice(0, maximum)} />
      ) : (
        <StandingsTable league={league} rows={shown} details={null} />
      )}
      {(league.players > ROWS_IN_ONE_COLUMN || teams) && (
        <p class={league.players > shown.length || teams ? "more" : "more more-of-column"}>
          <a href={leaguePath(league, "standings")}>All {league.players} players</a>
        </p>
      )}
    </section>
  );
}

function Matches({ document, maximum = Number.POSITIVE_INFINITY }: Part & { readonly maximum?: number }): JSX.Element {
  const { league, playing_count } = document;
  const playing = document.playing.slice(0, maximum);
  const results = document.results.slice(0, maximum);
  const others = playing_count - playing.length;
  return (
    <div class="overview-matches">
      {playing.length > 0 && (
        <section aria-labelledby="playing-heading">
          <h2 id="playing-heading">
            {MATCH_STATUS_TEXTS.playing} <span class="count">{playing_count}</span>
          </h2>
          <MatchList league={league} matches={playing} />
          {others > 0 && (
            <p class="more">
              <a href={leaguePath(league, "schedule")}>{others} more</a>
            </p>
          )}
        </section>
      )}
      <section aria-labelledby="results-heading">
        <h2 id="results-heading">Latest matches</h2>
        {results.length === 0 ? (
          <p class="empty">
            {league.status === "open"
              ? "Results appear here when the league has started."
              : "No match is completed yet."}
          </p>
        ) : (
          <MatchList league={league} matches={results} />
        )}
        {league.completed > results.length && (
          <p class="more">
            <a href={leaguePath(league, "schedule")}>All matches</a>
          </p>
        )}
      </section>
    </div>
  );
}
