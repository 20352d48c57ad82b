import type { JSX } from "preact";
import { Fragment } from "preact";
import { counted } from "../../lib/text.ts";
import type { LeagueHeader } from "../documents/league.ts";
import type { AnswerSummary, FaultCount, LastError } from "../documents/player.ts";
import { PlayerNames } from "../layout/player-name.tsx";
import { matchPath } from "../texts/league-paths.ts";
import { durationInWords, visibleText } from "../texts/visible-text.ts";

interface ErrorProps {
  readonly league: LeagueHeader;
  readonly error: LastError;
}

/** The last match that the player has lost by its fault, with the request and the answer. */
export function LastErrorBox({ league, error }: ErrorProps): JSX.Element {
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
export function FaultsOfPlayer({ faults }: { readonly faults: readonly FaultCount[] }): JSX.Element {
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
export function AnswerTimes({ league, answers }: AnswersProps): JSX.Element {
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
