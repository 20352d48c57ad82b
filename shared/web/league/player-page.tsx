import { Fragment, type JSX } from "preact";
import type { LeagueHeader } from "../documents/league.ts";
import type { FormResult, PlayerDocument } from "../documents/player.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { leaguePath, matchPath, playerPath } from "../texts/league-paths.ts";
import { MARKS, namesOf } from "../texts/marks.ts";
import type { PageProps } from "./page-props.ts";
import { AnswerTimes, FaultsOfPlayer, LastErrorBox } from "./player-errors.tsx";
import { MatchesOfPlayer, OpponentsOfPlayer } from "./player-matches.tsx";

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
