import { Fragment, type JSX } from "preact";
import { counted } from "#shared/lib/text.ts";
import { LeagueLayout, type PageProps, PagesOfList } from "#shared/web/layout/league-layout.tsx";
import { PlayerName, PlayerNames } from "#shared/web/layout/player-name.tsx";
import type {
  AnswerSummary,
  FaultCount,
  FormResult,
  LastError,
  LeagueHeader,
  PlayerDocument,
  PlayerMatchRow,
} from "#shared/web/league-documents.ts";
import {
  durationInWords,
  leaguePath,
  MARKS,
  MATCH_STATUS_TEXTS,
  matchPath,
  namesOf,
  playerPath,
  visibleText,
} from "#shared/web/texts/league-texts.ts";

/** The page of a player: its results, and what the author of its bot needs to correct it. */
export function PlayerPage({ document, problem }: PageProps<PlayerDocument>): JSX.Element {
  const { league, last_error, answers, faults } = document;
  return (
    <LeagueLayout league={league} section={null} problem={problem}>
      <div class="player-page">
        <PlayerHead document={document} />
        {last_error && <LastErrorBox league={league} error={last_error} />}
        {(answers || faults.length > 0) && (
          <div class="player-columns">
            {answers && <AnswerTimes league={league} answers={answers} />}
            {faults.length > 0 && <FaultsOfPlayer faults={faults} />}
          </div>
        )}
        <OpponentsOfPlayer document={document} />
        <MatchesOfPlayer document={document} />
      </div>
    </LeagueLayout>
  );
}

function PlayerHead({ document }: { readonly document: PlayerDocument }): JSX.Element {
  const { league, player, state, form, other_leagues } = document;
  return (
    <header class="player-head">
      <h2>
        <bdi>{player.name}</bdi>
      </h2>
      <p class={state.needs_attention ? "player-state attention" : "player-state"}>
        <span class="player-id">{player.player_id}</span> {state.text}
      </p>
      <Figures document={document} />
      {form.length > 0 && <Form league={league} form={form} />}
      {other_leagues.length > 0 && (
        <p class="player-leagues">
          Also plays in{" "}
          {other_leagues.map((other, index) => (
            <Fragment key={other.league_id}>
              {index > 0 && ", "}
              <a href={playerPath(other, player)}>
                <bdi>{other.league_id}</bdi>
              </a>{" "}
              ({other.game_name})
            </Fragment>
          ))}
          .
        </p>
      )}
    </header>
  );
}

function Figures({ document }: { readonly document: PlayerDocument }): JSX.Element {
  const { league, rank, points, played, wins, draws, losses, rating } = document;
  return (
    <dl class="player-figures">
      {league.status !== "open" && (
        <div>
          <dt>Rank</dt>
          <dd>
            {rank} <small>of {league.players}</small>
          </dd>
        </div>
      )}
      <div>
        <dt>Points</dt>
        <dd>{points}</dd>
      </div>
      <div>
        <dt>Won, drawn, lost</dt>
        <dd>
          {wins} <small>–</small> {draws} <small>–</small> {losses} {played > 0 && <small>of {played}</small>}
        </dd>
      </div>
      {rating && (
        <div>
          <dt>Rating</dt>
          <dd>
            {Math.round(rating.rating)} <small>± {Math.round(rating.error)}</small>{" "}
            {league.sections.includes("ratings") && (
              <a class="player-more" href={leaguePath(league, "ratings")}>
                All ratings
              </a>
            )}
          </dd>
        </div>
      )}
    </dl>
  );
}

function Form({ league, form }: { readonly league: LeagueHeader; readonly form: readonly FormResult[] }): JSX.Element {
  return (
    <div class="player-form">
      <span id="form-label">Last results, the latest on the right</span>
      <ol aria-labelledby="form-label">
        {form.map(({ match_id, mark, opponents }) => {
          const text = `${MARKS[mark].text} against ${namesOf(opponents)}`;
          return (
            <li key={match_id}>
              <a class={`player-mark mark-${mark}`} href={matchPath(league, match_id)} title={text} aria-label={text}>
                {MARKS[mark].letter}
              </a>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

interface Props {
  readonly document: PlayerDocument;
}

/** The results against each opponent. */
function OpponentsOfPlayer({ document }: Props): JSX.Element | null {
  const { league, opponents, further_opponents } = document;
  if (opponents.length === 0) return null;
  return (
    <section>
      <h3>Opponents</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div class="wide" tabIndex={0} role="region" aria-label="Results against each opponent">
        <table class="data player-opponents">
          <thead>
            <tr>
              <th scope="col">Opponent</th>
              {["Won", "Drawn", "Lost"].map((heading) => (
                <th key={heading} scope="col" class="n">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {opponents.map((row) => (
              <tr key={row.player_id}>
                <th scope="row">
                  <PlayerName league={league} player={row} />
                </th>
                {[row.wins, row.draws, row.losses].map((value, index) => (
                  <td key={index} class={value === 0 ? "n zero" : "n"}>
                    {value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {further_opponents > 0 && (
        <p class="more">
          {further_opponents === 1 ? "1 further opponent" : `${further_opponents} further opponents`}:{" "}
          <a href={leaguePath(league, "crosstable")}>Crosstable</a>
        </p>
      )}
    </section>
  );
}

/** The matches of the player: those that are played, the completed ones from the last to the first, then the next ones. */
function MatchesOfPlayer({ document }: Props): JSX.Element {
  const { rows } = document;
  return (
    <section>
      <h3>Matches</h3>
      {rows.length === 0 ? <p class="empty">No match is paired yet.</p> : <Matches document={document} />}
      <PagesOfList {...document} />
    </section>
  );
}

function Matches({ document: { league, rows } }: Props): JSX.Element {
  const hasTimes = rows.some(({ answers }) => answers !== null);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div class="wide" tabIndex={0} role="region" aria-label="Matches of the player">
      <table class="data player-matches">
        <thead>
          <tr>
            <th scope="col">Result</th>
            <th scope="col">Opponent</th>
            <th scope="col">Match</th>
            <th scope="col" class="role">
              Role
            </th>
            <th scope="col">How it ended</th>
            {hasTimes && (
              <th scope="col" class="n">
                Median, slowest answer
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.match_id}>
              <td>
                <Result row={row} />
              </td>
              <th scope="row">
                <PlayerNames league={league} players={row.opponents} />
                {row.partners.length > 0 && (
                  <span class="partners">
                    with <PlayerNames league={league} players={row.partners} />
                  </span>
                )}
              </th>
              <td>
                <a href={matchPath(league, row.match_id)}>{row.match_id}</a>
              </td>
              <td class="role">{row.role}</td>
              <td class={row.is_own_fault ? "reason own-fault" : "reason"}>{visibleText(row.reason)}</td>
              {hasTimes && (
                <td class="n">
                  {row.answers && `${durationInWords(row.answers.median_ms)}, ${durationInWords(row.answers.max_ms)}`}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Result({ row: { mark, status } }: { readonly row: PlayerMatchRow }): JSX.Element {
  if (mark === null) return <span class="player-next">{MATCH_STATUS_TEXTS[status]}</span>;
  return (
    <span class={`player-mark mark-${mark}`}>
      <span aria-hidden="true">{MARKS[mark].letter}</span>
      <span class="unseen">{MARKS[mark].text}</span>
    </span>
  );
}

interface ErrorProps {
  readonly league: LeagueHeader;
  readonly error: LastError;
}

/** The last match that the player has lost by its fault, with the request and the answer. */
function LastErrorBox({ league, error }: ErrorProps): JSX.Element {
  const { text, advice, match_id, opponents, role, request, step, detail, answer, position } = error;
  return (
    <section class="box player-error" aria-labelledby="last-error">
      <h3 id="last-error">
        Last forfeit: <strong>{visibleText(text)}</strong>
      </h3>
      <p>
        Match <a href={matchPath(league, match_id)}>{match_id}</a> as {role} against{" "}
        <PlayerNames league={league} players={opponents} />
        {step !== null && (step === 0 ? ", first turn" : `, after step ${step}`)}. {advice}
      </p>
      <dl class="exchange">
        <dt>The referee asked for</dt>
        <dd>{request}</dd>
        <dt>What went wrong</dt>
        <dd class="untrusted">{visibleText(detail)}</dd>
        <dt>The player answered</dt>
        <dd>{answer === null ? "nothing" : <Untrusted label="Answer of the player" text={answer} />}</dd>
      </dl>
      {position && (
        <details>
          <summary>The position as the bot received it</summary>
          <Untrusted label="Position" text={position.text} />
          <p>Legal actions:</p>
          <Untrusted label="Legal actions" text={position.legal_actions} />
          <p>
            <code>game_state</code> of the request:
          </p>
          <Untrusted label="State of the game" text={position.game_state} />
        </details>
      )}
    </section>
  );
}

/** A text of another program in its own lines. Control characters are visible. */
function Untrusted({ label, text }: { readonly label: string; readonly text: string }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <pre class="untrusted" dir="ltr" tabIndex={0} role="region" aria-label={label}>
      {visibleText(text)}
    </pre>
  );
}

/** The faults of a player by cause. */
function FaultsOfPlayer({ faults }: { readonly faults: readonly FaultCount[] }): JSX.Element {
  const total = faults.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class="box">
      <h3>{counted(total, "match", "matches")} lost by forfeit</h3>
      <dl class="player-faults">
        {faults.map(({ text, advice, count }) => (
          <Fragment key={text}>
            <dt>
              <span class="count">{count}</span> {visibleText(text)}
            </dt>
            <dd>{advice}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

interface AnswersProps {
  readonly league: LeagueHeader;
  readonly answers: AnswerSummary;
}

/** How long the player takes for its turns. */
function AnswerTimes({ league, answers }: AnswersProps): JSX.Element {
  const { matches, turns, median_ms, p95_ms, slowest, invalid } = answers;
  return (
    <section class="box">
      <h3>Answer times</h3>
      <dl class="player-times">
        <dt>Median</dt>
        <dd>{durationInWords(median_ms)}</dd>
        <dt>95th percentile</dt>
        <dd>{durationInWords(p95_ms)}</dd>
        <dt>Slowest</dt>
        <dd>
          {durationInWords(slowest.ms)}{" "}
          <small>
            (<a href={matchPath(league, slowest.match_id)}>{slowest.match_id}</a>
            {slowest.step !== null && `, step ${slowest.step}`})
          </small>
        </dd>
        <dt>Invalid answers</dt>
        <dd>{invalid}</dd>
      </dl>
      <p class="player-note">
        From the request to the accepted answer, including the network, as the referees measured it in{" "}
        {counted(turns, "turn")} of {matches === 1 ? "the last match" : `the last ${matches} matches`}. Median and 95th
        percentile are computed for each match; the page shows the median of these values.
      </p>
    </section>
  );
}
