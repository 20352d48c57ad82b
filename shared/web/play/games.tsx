import { type ComponentChildren, Fragment, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FactsOfGames, GameFacts, GameSummary, GameView } from "#shared/web/game-view.ts";
import { TextWithNames } from "#shared/web/layout/player-name.tsx";
import { MatchRef } from "#shared/web/layout/site-header.tsx";
import { DateAndTime } from "#shared/web/layout/time.tsx";
import { capitalized, endInWords, resultInWords, roleInWords, turnInWords } from "#shared/web/texts/game-texts.ts";
import { CONNECTION_LOST } from "#shared/web/texts/league-texts.ts";
import { listGames, ownGame } from "#shared/web/transports/games-api.ts";
import { forgetGame, type SavedGame, savedGames, seatPathOf } from "#shared/web/transports/saved-games.ts";
import { NewGame } from "./new-game.tsx";

const REFRESH_MS = 3000;
/** The finished games that are shown at first, and with each further step. */
const STEP = 20;

/** The games of this server, active ones first. The list is refreshed every few seconds while the page is visible. */
export function Games({ known }: { readonly known: FactsOfGames }): JSX.Element {
  const [games, setGames] = useState<readonly GameSummary[] | null>(null);
  const [problem, setProblem] = useState("");
  const [refreshes, setRefreshes] = useState(0);
  useEffect(() => {
    const refresh = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        setGames(await listGames());
        setProblem("");
        setRefreshes((count) => count + 1);
      } catch {
        setProblem(CONNECTION_LOST);
      }
    };
    void refresh();
    const timer = setInterval(() => void refresh(), REFRESH_MS);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, []);
  const active = games?.filter(({ status }) => status !== "completed") ?? [];
  const completed = games?.filter(({ status }) => status === "completed") ?? [];
  return (
    <main class="games">
      <h1>Games</h1>
      <p role="status">{problem}</p>
      <YourGames known={known} version={refreshes} />
      <NewGame known={known} />
      {games === null && problem === "" && <p>Loading…</p>}
      {games?.length === 0 && <p>No game has been played here yet.</p>}
      {active.length > 0 && <GameList title="Playing now" games={active} known={known} />}
      {completed.length > 0 && <GameList title="Finished" games={completed} known={known} />}
    </main>
  );
}

interface ListProps {
  readonly title: string;
  readonly games: readonly GameSummary[];
  readonly known: FactsOfGames;
}

function GameList({ title, games, known }: ListProps): JSX.Element {
  const [count, setCount] = useState(STEP);
  return (
    <section class="game-list">
      <h2>
        {title} <small>{games.length}</small>
      </h2>
      <ul>
        {games.slice(0, count).map((game) => (
          <li key={game.game_id}>
            <a href={`/game/${encodeURIComponent(game.game_id)}`}>
              <strong>{known[game.template]?.name ?? game.template}</strong>
              <span>
                <span>{playersOf(game)}</span>
                {game.match && (
                  <em>
                    <MatchRef match={game.match} />
                  </em>
                )}
                {game.status === "waiting_for_players" && <em>Waiting for players</em>}
                {game.result && (
                  <em>
                    <TextWithNames
                      text={capitalized(resultOf(game, known[game.template]))}
                      names={Object.values(game.players)}
                    />
                  </em>
                )}
              </span>
              <small>
                <DateAndTime iso={game.created_at} />
              </small>
            </a>
          </li>
        ))}
      </ul>
      {games.length > count && (
        <button type="button" onClick={() => setCount(count + STEP)}>
          Show more
        </button>
      )}
    </section>
  );
}

const resultOf = ({ result, players }: GameSummary, facts: GameFacts | undefined): string => {
  const named = Object.entries(players).map(([role, name]) => [role, { name }] as const);
  return resultInWords({ result, players: Object.fromEntries(named) }, facts);
};

/** The names with their roles. Each name has its own direction. */
const playersOf = ({ players }: GameSummary): readonly ComponentChildren[] =>
  Object.entries(players).map(([role, name], index) => (
    <Fragment key={role}>
      {index > 0 && " – "}
      {name === role ? (
        roleInWords(role)
      ) : (
        <>
          <bdi>{name}</bdi> ({roleInWords(role)})
        </>
      )}
    </Fragment>
  ));

/** The games whose current state is requested, the newest ones. */
const MAX_REQUESTED = 12;

/** The games that were played in this browser, with the links of their seats. `version` changes when they must be read again. */
function YourGames({ known, version }: { readonly known: FactsOfGames; readonly version: unknown }) {
  const [games, setGames] = useState(savedGames);
  const [views, setViews] = useState<ReadonlyMap<string, GameView>>(new Map());
  // `version` is the time for the next request
  useEffect(() => {
    const read = async (saved: SavedGame): Promise<void> => {
      const view = await ownGame(saved);
      if (view === null) forgetGame(saved.gameId);
      else setViews((before) => new Map(before).set(saved.gameId, view));
      setGames(savedGames());
    };
    const open = games.filter(({ gameId }) => views.get(gameId)?.status !== "completed").slice(0, MAX_REQUESTED);
    // A game that cannot be read keeps its line and its link.
    for (const saved of open) read(saved).catch(() => {});
  }, [version]);
  if (games.length === 0) return null;
  const forget = (gameId: string): void => {
    forgetGame(gameId);
    setGames(savedGames());
  };
  return (
    <section class="your-games">
      <h2>
        Your games <small>in this browser</small>
      </h2>
      <ul>
        {games.map((game) => (
          <OwnGame key={game.gameId} saved={game} view={views.get(game.gameId)} known={known} onForget={forget} />
        ))}
      </ul>
    </section>
  );
}

interface OwnGameProps {
  readonly saved: SavedGame;
  readonly view: GameView | undefined;
  readonly known: FactsOfGames;
  readonly onForget: (gameId: string) => void;
}

function OwnGame({ saved, view, known, onForget }: OwnGameProps): JSX.Element {
  const { template, role, opponents, gameId } = saved;
  const name = known[template]?.name ?? template;
  const isTurn = view?.status === "active" && view.to_act.includes(role);
  return (
    <li class={isTurn ? "turn" : ""}>
      <a href={seatPathOf(saved)}>
        <strong>{name}</strong>
        <span>
          {roleInWords(role)} against <bdi>{opponents}</bdi>
          {view && <em>{stateOf(view, role, known)}</em>}
        </span>
      </a>
      <button type="button" aria-label={`Forget the game of ${name}`} title="Forget" onClick={() => onForget(gameId)}>
        <span aria-hidden="true">×</span>
      </button>
    </li>
  );
}

function stateOf(view: GameView, role: string, known: FactsOfGames): string {
  const end = endInWords(view, role, known[view.template]);
  return end ? `${end.title}: ${end.reason.toLowerCase()}` : capitalized(turnInWords(view, role));
}
