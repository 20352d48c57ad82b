import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { FactsOfGames } from "../game-facts.ts";
import { SiteHeader } from "../layout/site-header.tsx";
import type { MatchView, PlayView } from "../league-view.ts";
import type { LeagueSeat } from "../texts/links.ts";
import { followSeat, leaveLeagues, makeMove } from "../transports/league-api.ts";
import { type GameUpdate, messageOf, type Transport } from "../transports/transport.ts";
import { Table } from "./game-page.tsx";
import { LeagueSide } from "./league-side.tsx";

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
