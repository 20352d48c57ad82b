import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FactsOfGames } from "../game-facts.ts";
import type { LeagueView, MatchView, PlayView } from "../league-view.ts";
import { resultInWords } from "../texts/game-texts.ts";
import { leaguePath } from "../texts/league-paths.ts";
import { LEAGUE_STATUS_TEXTS } from "../texts/status-texts.ts";
import { ConfirmButton } from "./confirm-button.tsx";

interface LeagueSideProps {
  readonly view: PlayView;
  readonly games: FactsOfGames;
  readonly onLeave: () => void;
  /** The match that is shown; null before the first one. */
  readonly match: MatchView | null;
}

/** The panel beside the board: the clock, the last and the next match, and the standings. */
export function LeagueSide({ view, match, games, onLeave }: LeagueSideProps): JSX.Element {
  const leagues = view.leagues.filter(({ league_id }) => !match || league_id === match.league_id);
  const others = view.leagues.filter((league) => !leagues.includes(league));
  return (
    <aside class="league-side">
      {match && match.seconds_left !== null && <Clock match={match} />}
      {match?.seconds_left === null && match.game.status === "active" && <p class="clock idle">It is not your turn</p>}
      {view.is_over && view.leagues.some(({ status }) => status !== "completed") && (
        <p class="over">You no longer play in this league and forfeit your remaining matches.</p>
      )}
      <LastResult view={view} match={match} games={games} />
      {[...leagues, ...others].map((league) => (
        <LeagueSection key={league.league_id} league={league} playerId={view.player_id} />
      ))}
      {!view.is_over && <LeaveButton view={view} onLeave={onLeave} />}
      <p class="hint">Save the address of this page. You need it to return to your matches. Do not share it.</p>
    </aside>
  );
}

/** The result of the newest completed match, while another match is shown. */
function LastResult({ view, match, games }: Omit<LeagueSideProps, "onLeave">): JSX.Element | null {
  const last = view.matches.find(({ game }) => game.status === "completed");
  if (!last || !match || match.game.status === "completed") return null;
  const { game, league_id, match_id } = last;
  return (
    <p>
      Last match ({league_id} {match_id}): {resultInWords(game, games[game.template])}
    </p>
  );
}

function LeaveButton({ view, onLeave }: Pick<LeagueSideProps, "view" | "onLeave">): JSX.Element {
  const named = view.leagues.length > 1 ? "all your leagues" : "the league";
  const isRunning = view.leagues.some(({ status }) => status === "running");
  const loss = "You lose your current match and all later ones.";
  return (
    <ConfirmButton
      label={`Leave ${named}`}
      question={`Leave ${named}?`}
      {...(isRunning && { warning: loss })}
      yes="Yes, leave"
      no="No, stay"
      isBusy={false}
      onConfirm={onLeave}
    />
  );
}

/** The number of seconds below which the clock warns. */
const URGENT_S = 10;

/** The time left for the move. The server sends it with each change, and the page counts on. */
function Clock({ match }: { readonly match: MatchView }): JSX.Element {
  const [endsAt, setEndsAt] = useState(0);
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const start = performance.now();
    setEndsAt(start + (match.seconds_left ?? 0) * 1000);
    setNow(start);
    const timer = setInterval(() => setNow(performance.now()), 250);
    return () => clearInterval(timer);
  }, [match]);
  const seconds = Math.max(0, Math.ceil((endsAt - now) / 1000));
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return (
    <p class={seconds < URGENT_S ? "clock urgent" : "clock"} role="timer" aria-label="Time left for your move">
      <strong>{text}</strong> left for your move
    </p>
  );
}

interface SectionProps {
  readonly league: LeagueView;
  readonly playerId: string;
}

function LeagueSection({ league, playerId }: SectionProps): JSX.Element {
  const { league_id, game_name, status, waiting, next_match, standings } = league;
  return (
    <section>
      <h2>
        {game_name}{" "}
        <small>
          <a href={leaguePath({ league_id })}>{league_id}</a>
        </small>
      </h2>
      {status === "open" && <p>{waiting || LEAGUE_STATUS_TEXTS.open}</p>}
      {status === "completed" && <p class="over">{finalText(standings, playerId)}</p>}
      {next_match && (
        <p>
          Next match: round {next_match.round_id}, against {next_match.opponents.join(", ")}
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th class="n">#</th>
            <th>Player</th>
            <th class="n">Played</th>
            <th class="n">Points</th>
          </tr>
        </thead>
        <tbody>
          {standings.map((row) => (
            <tr key={row.player_id} class={row.player_id === playerId ? "you" : ""}>
              <td class="n">{row.rank}</td>
              <td>
                <bdi>{row.display_name}</bdi>
                {row.player_id === playerId ? " (you)" : ""}
              </td>
              <td class="n">{row.played}</td>
              <td class="n">{row.points}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function finalText(standings: LeagueView["standings"], playerId: string): string {
  const own = standings.find(({ player_id }) => player_id === playerId);
  return own ? `The league is over: your final rank is ${own.rank} of ${standings.length}.` : "The league is over.";
}
