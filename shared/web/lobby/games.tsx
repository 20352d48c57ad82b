import { type ComponentChildren, Fragment, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FactsOfGames, GameFacts } from "../game-facts.ts";
import type { GameSummary } from "../game-view.ts";
import { MatchRef } from "../layout/match-ref.tsx";
import { TextWithNames } from "../layout/text-with-names.tsx";
import { DateAndTime } from "../layout/time.tsx";
import { capitalized, resultInWords, roleInWords } from "../texts/game-texts.ts";
import { CONNECTION_LOST } from "../texts/status-texts.ts";
import { listGames } from "../transports/games-api.ts";
import { NewGame } from "./new-game.tsx";
import { YourGames } from "./your-games.tsx";

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
