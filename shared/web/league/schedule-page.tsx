import type { JSX } from "preact";
import type { LeagueHeader, MatchRow } from "../documents/league.ts";
import type { ScheduleDocument, ScheduleRound } from "../documents/schedule.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { PagesOfList } from "../layout/pages-of-list.tsx";
import { PlayerName } from "../layout/player-name.tsx";
import { DateAndTime } from "../layout/time.tsx";
import { restartInWords } from "../texts/game-texts.ts";
import { matchPath } from "../texts/league-paths.ts";
import { MATCH_STATUS_TEXTS } from "../texts/status-texts.ts";
import type { PageProps } from "./page-props.ts";
import { RoundLinks } from "./round-links.tsx";

/** The matches of a round, or of all rounds of a league that plays several at the same time. */
export function SchedulePage({ document, problem }: PageProps<ScheduleDocument>): JSX.Element {
  const { league, round, matches } = document;
  return (
    <LeagueLayout league={league} section="schedule" problem={problem}>
      {document.last_round === 0 ? (
        <p>The first round is paired when the league starts.</p>
      ) : (
        <div class="schedule">
          <RoundLinks document={document} />
          {round ? <RoundHead round={round} matches={document.total} /> : <h2>All matches, the newest first</h2>}
          <ul class="schedule-matches">
            {matches.map((match) => (
              <ScheduleMatch key={match.match_id} league={league} match={match} hasRound={round === null} />
            ))}
          </ul>
          <PagesOfList {...document} />
          {round && <Unpaired league={league} round={round} />}
        </div>
      )}
    </LeagueLayout>
  );
}

const STATES: Readonly<Record<ScheduleRound["state"], string>> = {
  waiting: "Not started",
  playing: "Being played",
  completed: "Completed",
};

function RoundHead({ round, matches }: { readonly round: ScheduleRound; readonly matches: number }): JSX.Element {
  const { round_id, label, state, completed, opened_at, ends_at } = round;
  return (
    <header class="schedule-head">
      <h2>{label === "" ? `Round ${round_id}` : `Round ${round_id}: ${label}`}</h2>
      <p role="status">
        {STATES[state]}
        {state === "playing" && `, ${completed} of ${matches} matches completed`}
        {opened_at !== null && (
          <>
            {" · started "}
            <DateAndTime iso={opened_at} />
          </>
        )}
        {ends_at !== null && (
          <>
            {" · ends "}
            <DateAndTime iso={ends_at} />
          </>
        )}
      </p>
    </header>
  );
}

interface MatchProps {
  readonly league: LeagueHeader;
  readonly match: MatchRow;
  readonly hasRound: boolean;
}

const MATCH_STATES: Readonly<Record<MatchRow["status"], string>> = {
  ...MATCH_STATUS_TEXTS,
  completed: "No result",
};

function ScheduleMatch({ league, match, hasRound }: MatchProps): JSX.Element {
  const { match_id, round_id, status, players, referee, result, restart, is_forfeit } = match;
  const most = Math.max(...players.map(({ points }) => points ?? 0));
  const names = players.map(({ name }) => name).join(", ");
  return (
    <li class={`schedule-match is-${status}`}>
      <ul class="schedule-players">
        {players.map((player) => (
          <li key={player.player_id} class={most > 0 && player.points === most && most !== 1 ? "is-winner" : undefined}>
            <PlayerName league={league} player={player} />
            <small>{player.role}</small>
            <span class="n">{player.points ?? ""}</span>
          </li>
        ))}
      </ul>
      <div class="schedule-result">
        <p>
          {is_forfeit && <span class="badge badge-forfeit">Forfeit</span>}{" "}
          {result === null ? MATCH_STATES[status] : <bdi>{result}</bdi>}
        </p>
        <p class="schedule-facts">
          {hasRound && <span>Round {round_id}</span>}
          {referee !== null && <span>{referee}</span>}
          {restart !== null && <span>{restartInWords(restart)}</span>}
        </p>
      </div>
      <a class="schedule-link" href={matchPath(league, match_id)}>
        {status === "playing" ? "Watch" : "Match"}
        <span class="unseen">: {names}</span>
      </a>
    </li>
  );
}

/** The players that have no match in a round, with the reason. */
function Unpaired({ league, round }: { readonly league: LeagueHeader; readonly round: ScheduleRound }): JSX.Element {
  const groups = [
    { name: round.byes.length === 1 && round.unpaired.pages === 1 ? "Bye" : "Byes", players: round.byes },
    { name: "No longer in the league", players: round.absent },
  ];
  return (
    <div id="unpaired">
      {groups
        .filter(({ players }) => players.length > 0)
        .map(({ name, players }) => (
          <section key={name} class="schedule-unpaired">
            <h3>{name}</h3>
            <ul>
              {players.map((player) => (
                <li key={player.player_id}>
                  <PlayerName league={league} player={player} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      <PagesOfList {...round.unpaired} name="unpaired" />
    </div>
  );
}
