import { Fragment, type JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { isProjector, LeagueLayout, LiveText, type PageProps } from "#shared/web/layout/league-layout.tsx";
import { CopyButton, QrCode } from "#shared/web/layout/link-sharing.tsx";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import type { Joining, LeagueHeader, MatchRow, OverviewDocument, TestResult } from "#shared/web/league-documents.ts";
import { restartInWords } from "#shared/web/texts/game-texts.ts";
import { leaguePath, MATCH_STATUS_TEXTS, matchPath, matchSentence } from "#shared/web/texts/league-texts.ts";
import { OrderText, StandingsTable, TeamTable, useRowMotion } from "./standings-table.tsx";
import { Winners } from "./winners.tsx";

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

interface HowToJoinProps {
  readonly league: LeagueHeader;
  readonly joining: Joining;
}

/** How programs and people join a league. */
function HowToJoin({ league, joining }: HowToJoinProps): JSX.Element {
  const address = addressOf(joining);
  const page = `${address}/play?league=${encodeURIComponent(league.league_id)}`;
  const code = joining.needs_join_code ? " --join-code CODE" : "";
  const named = joining.names_league ? ` --league ${league.league_id}` : "";
  const command = `${joining.program} join ./my-bot/bot.ts --name YOUR_NAME${named} --manager ${address}/mcp${code}`;
  return (
    <section class="box join-league" aria-labelledby="join-heading">
      <div>
        <h2 id="join-heading">{league.status === "open" ? "Join this league" : "You can still join this league"}</h2>
        <h3>With a program</h3>
        <p>Enter this command in the folder of the project, with your bot and your name:</p>
        <Command text={command} />
        {!isProjector() && <WithoutProject league={league} needsCode={joining.needs_join_code} />}
        <h3>In the browser</h3>
        <p>
          {isLocal(address) ? "Open" : "Scan the code, or open"}{" "}
          <a href={`/play?league=${encodeURIComponent(league.league_id)}`}>{shortAddress(page)}</a>
        </p>
        {joining.needs_join_code && <p>You need a join code. Ask the operator of the league for it.</p>}
        {isLocal(address) && <p class="note">Only this machine can reach this address.</p>}
      </div>
      {!isLocal(address) && <QrCode text={page} label={`QR code of ${page}`} />}
    </section>
  );
}

/** The files for a student without this project: they need only Python. */
function WithoutProject({
  league,
  needsCode,
}: {
  readonly league: LeagueHeader;
  readonly needsCode: boolean;
}): JSX.Element {
  const folder = leaguePath(league);
  return (
    <>
      <h3>With a program in Python, without this project</h3>
      <p>
        Save <a href={`${folder}/join.py`}>join.py</a> and <a href={`${folder}/bot.py`}>bot.py</a> in one folder, write
        your bot in bot.py, and enter this command in the folder:
      </p>
      <Command text={`python3 join.py YOUR_NAME${needsCode ? " 8150 CODE" : ""}`} />
    </>
  );
}

/** Returns the address for other machines: that of this page, unless it was opened on the machine of the manager. */
function addressOf({ addresses }: Joining): string {
  if (!isLocal(location.origin)) return location.origin;
  return addresses.find((address) => !isLocal(address)) ?? location.origin;
}

const isLocal = (address: string): boolean => /^https?:\/\/(localhost|127\.|\[::1\])/.test(address);

const shortAddress = (address: string): string => address.replace(/^https?:\/\//, "");

const Command = ({ text }: { readonly text: string }): JSX.Element => (
  <div class="command">
    <code>
      {/* Options are not broken at their hyphens. */}
      {text.split(" ").map((word, index) => (
        <Fragment key={index}>
          {index > 0 && " "}
          <span class="word">{word}</span>
        </Fragment>
      ))}
    </code>
    <CopyButton text={text} />
  </div>
);

const POINTS = ["0", "½", "1", "1½", "2"];

/** The result so far of a league that tests a hypothesis. */
function TestResultBox({ test }: { readonly test: TestResult }): JSX.Element {
  const most = Math.max(1, ...test.pairs);
  return (
    <section class="box" aria-labelledby="test-heading">
      <h2 id="test-heading">{test.is_decided ? "Result of the test" : "Test so far"}</h2>
      <p>{test.text}</p>
      <table class="data pairs">
        <caption>Number of match pairs by the score of the tested player</caption>
        <tbody>
          {test.pairs.map((count, index) => (
            <tr key={POINTS[index]}>
              <th scope="row" class="n">
                {POINTS[index]}
              </th>
              <td class="n">{count}</td>
              <td class="pairs-bar">
                <progress class="bar" value={count} max={most} aria-hidden="true" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface MatchListProps {
  readonly league: LeagueHeader;
  readonly matches: readonly MatchRow[];
}

/** Matches as links to their pages, with their results. */
function MatchList({ league, matches }: MatchListProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useRowMotion(list);
  return (
    <ul class="match-list" ref={list}>
      {matches.map((match) => (
        <li key={match.match_id} data-key={match.match_id} data-state={match.result ?? ""}>
          <a href={matchPath(league, match.match_id)}>
            <span class="match-id">{match.match_id}</span>
            <span class="match-players">
              {match.players.map(({ player_id, name, points }) => (
                <span key={player_id} class={points === 3 ? "won" : ""}>
                  <bdi>{name}</bdi>
                  {points !== null && <span class="score">{points}</span>}
                </span>
              ))}
            </span>
            {match.reason !== null && <span class="match-reason">{match.reason}</span>}
            {match.result === null && match.restart && (
              <span class="match-reason">{restartInWords(match.restart)}</span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}
