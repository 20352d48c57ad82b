import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import type { FactsOfGames, GameFacts } from "../game-facts.ts";
import type { GameSummary } from "../game-view.ts";
import { resultInWords } from "../texts/game-texts.ts";
import { NewGame } from "./new-game.tsx";

const REFRESH_MS = 3000;
const UNREACHABLE = "The server cannot be reached; trying again.";

/** The games of this server, active ones first. The list is refreshed every few seconds while the page is visible. */
export function Games({ known }: { readonly known: FactsOfGames }): JSX.Element {
  const [games, setGames] = useState<readonly GameSummary[] | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const refresh = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        setGames(await fetchGames());
        setProblem("");
      } catch {
        setProblem(UNREACHABLE);
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
      <NewGame known={known} />
      <p role="status">{problem}</p>
      {games === null && problem === "" && <p>Loading…</p>}
      {games?.length === 0 && <p>No game has been played here yet.</p>}
      {active.length > 0 && <GameList title="Active" games={active} known={known} />}
      {completed.length > 0 && <GameList title="Finished" games={completed} known={known} />}
    </main>
  );
}

async function fetchGames(): Promise<readonly GameSummary[]> {
  const response = await fetch("/api/games");
  if (!response.ok) throw new Error(String(response.status));
  const { games } = (await response.json()) as { games: readonly GameSummary[] };
  return games;
}

interface ListProps {
  readonly title: string;
  readonly games: readonly GameSummary[];
  readonly known: FactsOfGames;
}

function GameList({ title, games, known }: ListProps): JSX.Element {
  return (
    <section>
      <h2>
        {title} <small>{games.length}</small>
      </h2>
      <ul>
        {games.map((game) => (
          <li key={game.game_id}>
            <a href={`/game/${encodeURIComponent(game.game_id)}`}>
              <strong>{known[game.template]?.name ?? game.template}</strong>
              <span>
                {playersOf(game)}
                {game.status === "waiting_for_players" && <em>Waiting for players</em>}
                {game.result && <em>{resultOf(game, known[game.template])}</em>}
              </span>
              <small>
                <time dateTime={game.created_at}>{new Date(game.created_at).toLocaleString()}</time>
              </small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const resultOf = ({ result, players }: GameSummary, facts: GameFacts | undefined): string => {
  const named = Object.entries(players).map(([role, name]) => [role, { name }] as const);
  return resultInWords({ result, players: Object.fromEntries(named) }, facts);
};

const playersOf = ({ players }: GameSummary): string =>
  Object.entries(players)
    .map(([role, name]) => (name === role ? spoken(role) : `${name} (${spoken(role)})`))
    .join(" – ");
