import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { FactsOfGames } from "#shared/web/game-view.ts";
import { ConfirmButton } from "#shared/web/layout/confirm-button.tsx";
import { SiteHeader } from "#shared/web/layout/site-header.tsx";
import type { JoinView, LeagueView, MatchView, PlayView } from "#shared/web/play-documents.ts";
import { resultInWords } from "#shared/web/texts/game-texts.ts";
import { LEAGUE_STATUS_TEXTS, leaguePath, visibleText } from "#shared/web/texts/league-texts.ts";
import { type Invitation, type LeagueSeat, pathOfSeat } from "#shared/web/texts/links.ts";
import { followSeat, joinLeague, leaveLeagues, makeMove, openLeagues } from "#shared/web/transports/league-api.ts";
import { type GameUpdate, messageOf, type Transport } from "#shared/web/transports/transport.ts";
import { Table } from "./game-page.tsx";

interface LeaguePlayProps {
  readonly seat: LeagueSeat;
  readonly games: FactsOfGames;
}

/** A person's place in its leagues: the board of the match that needs the person, the clock, the next match and the standings. */
export function LeaguePlay({ seat, games }: LeaguePlayProps): JSX.Element {
  const [view, setView] = useState<PlayView | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [hasLeft, setLeft] = useState(false);
  useEffect(
    () =>
      hasLeft
        ? undefined
        : followSeat(seat, (update) => {
            if (update.view) setView(update.view);
            if (update.problem !== undefined) setProblem(update.problem);
          }),
    [seat, hasLeft],
  );
  const match = view && shownMatch(view.matches, chosen);
  const id = match?.game.game_id ?? null;
  useEffect(() => setChosen(id), [id]);
  const board = useMemo(() => boardConnection(seat, setView), [seat]);
  useEffect(() => {
    if (match) board.show({ game: match.game, problem });
  }, [board, match, problem]);
  useEffect(() => {
    if (view && !match) document.title = `${view.name} · League`;
  }, [view, match]);
  const leave = (): void => {
    leaveLeagues(seat).then(
      () => setLeft(true),
      (error) => setProblem(messageOf(error)),
    );
  };
  if (hasLeft) return <Farewell />;
  if (!view) return <p class="loading">{problem ?? "Loading your league…"}</p>;
  const others = view.matches.filter((one) => one !== match && one.seconds_left !== null);
  return (
    <div class="site">
      <SiteHeader part="join" />
      <div class="league-play">
        <div class="league-board">
          {match ? <Table transport={board.transport} first={match.game} games={games} /> : <WaitingRoom view={view} />}
          {match?.rejected && (
            <p class="notice rejection" role="alert">
              Your move was rejected: {match.rejected}
            </p>
          )}
          {problem && !match && (
            <p class="notice" role="status">
              {problem}
            </p>
          )}
          {others.length > 0 && <OtherTurns matches={others} onChoose={setChosen} />}
        </div>
        <LeagueSide view={view} match={match} games={games} onLeave={leave} />
      </div>
    </div>
  );
}

/**
 * Returns the match to show: the chosen one while the person is to move in it, else the most urgent one in which the person is to move, else the
 * chosen one, else the newest. `matches` begins with the most urgent ones.
 */
function shownMatch(matches: readonly MatchView[], chosen: string | null): MatchView | null {
  const current = matches.find(({ game }) => game.game_id === chosen) ?? null;
  if (current && current.seconds_left !== null) return current;
  const [first = null] = matches;
  if (first?.seconds_left != null || current === null || current.game.status === "completed") return first;
  return current;
}

/** The connection between the board and the matches of a seat: the page shows a match, and the board sends its moves. */
function boardConnection(seat: LeagueSeat, onState: (view: PlayView) => void) {
  let report: (update: GameUpdate) => void = () => {};
  let last: GameUpdate = {};
  const transport: Transport = {
    open(listener) {
      report = listener;
      report(last);
      return () => {
        report = () => {};
      };
    },
    roleIn: ({ your_role }) => your_role,
    async play({ game_id }, action) {
      onState(await makeMove(seat, game_id.replace(/#\d+$/, ""), action));
      return "";
    },
  };
  return {
    transport,
    show(update: GameUpdate): void {
      last = update;
      report(update);
    },
  };
}

function Farewell(): JSX.Element {
  useEffect(() => {
    document.title = "You have left · League";
  }, []);
  return (
    <div class="site">
      <SiteHeader part="join" />
      <main class="waiting-room">
        <h1>You have left the league</h1>
        <p>
          <a href="/leagues">Leagues</a> · <a href="/play">Join a league</a>
        </p>
      </main>
    </div>
  );
}

function WaitingRoom({ view }: { readonly view: PlayView }): JSX.Element {
  return (
    <main class="waiting-room">
      <h1>
        {view.is_over ? (
          "Your leagues are over"
        ) : (
          <>
            Welcome, <bdi>{view.name}</bdi>
          </>
        )}
      </h1>
      {!view.is_over && <p role="status">Your board appears here when your first match begins.</p>}
    </main>
  );
}

interface OtherTurnsProps {
  readonly matches: readonly MatchView[];
  readonly onChoose: (gameId: string) => void;
}

/** The other matches in which the person is to move. */
function OtherTurns({ matches, onChoose }: OtherTurnsProps): JSX.Element {
  return (
    <nav class="other-turns" aria-label="Other matches in which you are to move">
      {matches.map(({ game, league_id, match_id }) => (
        <button type="button" key={game.game_id} onClick={() => onChoose(game.game_id)}>
          Your move in {game.name} ({league_id} {match_id})
        </button>
      ))}
    </nav>
  );
}

interface LeagueSideProps {
  readonly view: PlayView;
  readonly games: FactsOfGames;
  readonly onLeave: () => void;
  /** The match that is shown; null before the first one. */
  readonly match: MatchView | null;
}

/** The panel beside the board: the clock, the last and the next match, and the standings. */
function LeagueSide({ view, match, games, onLeave }: LeagueSideProps): JSX.Element {
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

interface JoinLeagueProps {
  /** Joins without the form, if the link of the page has a name and a token. */
  readonly invitation: Invitation | null;
}

/** The form with which a person enters a league. It then opens the page of the person's seat. */
export function JoinLeague({ invitation }: JoinLeagueProps): JSX.Element {
  const [view, setView] = useState<JoinView | null>(null);
  const [rejection, setRejection] = useState("");
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const reject = (error: unknown): void => setRejection(messageOf(error));
    if (invitation) joinByLink(invitation).catch(reject);
    else openLeagues().then(setView, reject);
  }, [invitation]);
  const join = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const entered = Object.fromEntries([...fields].filter(([, value]) => value !== ""));
    setBusy(true);
    setRejection("");
    try {
      location.assign(pathOfSeat(await joinLeague(entered, null)));
    } catch (error) {
      setRejection(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <div class="site">
      <SiteHeader part="join" isFirst />
      <main class="join">
        <h1>Play in a league</h1>
        {view?.leagues.length === 0 && (
          <p>
            No league is open for new players. <a href="/leagues">Leagues</a>
          </p>
        )}
        {view && view.leagues.length > 0 && (
          <form onSubmit={(event) => void join(event)}>
            <label>
              Your name
              <input name="name" dir="auto" required maxLength={100} autocomplete="nickname" />
            </label>
            <LeagueChoice leagues={view.leagues} chosen={chosenLeague()} />
            {view.needs_join_code && (
              <label>
                Join code
                <input name="join_code" required autocomplete="off" />
              </label>
            )}
            <button type="submit" disabled={isBusy}>
              Join
            </button>
          </form>
        )}
        {rejection && (
          <p class="notice rejection" role="alert">
            {rejection}
          </p>
        )}
        <p class="hint">Your matches appear here when the league starts.</p>
      </main>
    </div>
  );
}

async function joinByLink({ name, token, joinCode }: Invitation): Promise<void> {
  const seat = await joinLeague({ name, ...(joinCode !== undefined && { join_code: joinCode }) }, token);
  location.replace(pathOfSeat(seat));
}

/** The league in the address of the page. */
const chosenLeague = (): string => new URLSearchParams(location.search).get("league") ?? "";

function LeagueChoice({ leagues, chosen }: Pick<JoinView, "leagues"> & { readonly chosen: string }): JSX.Element {
  const named = ({ league_id, game_name, players }: JoinView["leagues"][number]): string =>
    `${game_name} (${league_id}), ${players === 1 ? "1 player" : `${players} players`}`;
  const [only] = leagues;
  const isUnknown = chosen !== "" && leagues.every(({ league_id }) => league_id !== chosen);
  const unknown = isUnknown && <p class="hint">No league “{visibleText(chosen)}” takes players now.</p>;
  if (leagues.length === 1 && only) {
    return (
      <>
        {unknown}
        <p>
          <input type="hidden" name="league_id" value={only.league_id} />
          {named(only)}
        </p>
      </>
    );
  }
  return (
    <>
      {unknown}{" "}
      <label>
        League
        <select name="league_id">
          <option value="">All leagues</option>
          {leagues.map((league) => (
            <option key={league.league_id} value={league.league_id} selected={league.league_id === chosen}>
              {named(league)}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
