import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { GameSummary } from "../game-view.ts";
import { GAME_NAMES } from "../texts/game-names.ts";
import { resultInWords, spoken } from "../texts/words.ts";
import { NewGame } from "./new-game.tsx";

const REFRESH_MS = 3000;
const UNREACHABLE = "The server cannot be reached; trying again.";

/** The games of this server, the active ones first, read anew every few seconds while somebody looks. */
export function Games(): JSX.Element {
  const [games, setGames] = useState<readonly GameSummary[] | null>(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    const refresh = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        setGames(await fetchGames());
        setTrouble("");
      } catch {
        setTrouble(UNREACHABLE);
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
      <NewGame />
      <p role="status">{trouble}</p>
      {games === null && trouble === "" && <p>Loading…</p>}
      {games?.length === 0 && <p>No game has been played here yet.</p>}
      {active.length > 0 && <GameList title="Active" games={active} />}
      {completed.length > 0 && <GameList title="Finished" games={completed} />}
    </main>
  );
}

async function fetchGames(): Promise<readonly GameSummary[]> {
  const response = await fetch("/api/games");
  if (!response.ok) throw new Error(String(response.status));
  const { games } = (await response.json()) as { games: readonly GameSummary[] };
  return games;
}

function GameList({ title, games }: { readonly title: string; readonly games: readonly GameSummary[] }): JSX.Element {
  return (
    <section>
      <h2>
        {title} <small>{games.length}</small>
      </h2>
      <ul>
        {games.map((game) => (
          <li key={game.game_id}>
            <a href={`/game/${encodeURIComponent(game.game_id)}`}>
              <strong>{GAME_NAMES[game.template] ?? game.template}</strong>
              <span>
                {playersOf(game)}
                {game.status === "waiting_for_players" && <em>Waiting for players</em>}
                {game.result && <em>{resultOf(game)}</em>}
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

const resultOf = ({ template, result, players }: GameSummary): string => {
  const named = Object.entries(players).map(([role, name]) => [role, { name }] as const);
  return resultInWords({ template, result, players: Object.fromEntries(named) });
};

const playersOf = ({ players }: GameSummary): string =>
  Object.entries(players)
    .map(([role, name]) => (name === role ? spoken(role) : `${name} (${spoken(role)})`))
    .join(" – ");
