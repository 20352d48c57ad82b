import type { JSX } from "preact";
import { LeagueLayout, type PageProps, PagesOfList } from "#shared/web/layout/league-layout.tsx";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import { DateAndTime } from "#shared/web/layout/time.tsx";
import type {
  LeagueHeader,
  MatchRow,
  RoundRef,
  ScheduleDocument,
  ScheduleRound,
} from "#shared/web/league-documents.ts";
import { restartInWords } from "#shared/web/texts/game-texts.ts";
import { leaguePath, MATCH_STATUS_TEXTS, matchPath } from "#shared/web/texts/league-texts.ts";

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

const roundPath = (league: LeagueHeader, roundId: number): string => leaguePath(league, `schedule?round=${roundId}`);

/** The links to the other rounds: the neighbours, the current one, and the list of all. */
function RoundLinks({ document }: { readonly document: ScheduleDocument }): JSX.Element | null {
  const { league, round, rounds, last_round, current_round, has_all } = document;
  const shown = round?.round_id ?? null;
  if (last_round <= 1 && !has_all) return null;
  const step = (text: string, name: string, to: number, isPossible: boolean): JSX.Element =>
    isPossible ? (
      <a href={roundPath(league, to)} aria-label={name}>
        {text}
      </a>
    ) : (
      <span aria-hidden="true">{text}</span>
    );
  return (
    <nav class="schedule-rounds" aria-label="Rounds">
      {shown !== null && step("«", "First round", 1, shown > 1)}
      {shown !== null && step("‹", "Previous round", shown - 1, shown > 1)}
      <a href={leaguePath(league, "schedule")} aria-current={isFollowing() ? "page" : undefined}>
        {has_all ? "All matches" : league.status === "completed" ? "Last round" : `Current: ${current_round}`}
      </a>
      {shown !== null && step("›", "Next round", shown + 1, shown < last_round)}
      {shown !== null && step("»", "Last round", last_round, shown < last_round)}
      <details class="schedule-rounds-list">
        <summary>All rounds</summary>
        <ol>
          {rounds.map((one) => (
            <li key={one.round_id}>
              <a href={roundPath(league, one.round_id)} aria-current={one.round_id === shown ? "true" : undefined}>
                {one.label === "" ? `Round ${one.round_id}` : `${one.round_id}: ${one.label}`}
                <small>{ROUND_STATES[one.state]}</small>
              </a>
            </li>
          ))}
        </ol>
      </details>
    </nav>
  );
}

const ROUND_STATES: Readonly<Record<RoundRef["state"], string>> = {
  waiting: "not started",
  playing: "being played",
  completed: "completed",
};

/** Whether the page follows the current round: its address names none. */
const isFollowing = (): boolean => !new URLSearchParams(location.search).has("round");
