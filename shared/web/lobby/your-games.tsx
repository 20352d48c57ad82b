import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FactsOfGames } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";
import { endInWords } from "../texts/end-text.ts";
import { capitalized, roleInWords, turnInWords } from "../texts/game-texts.ts";
import { ownGame } from "../transports/games-api.ts";
import { forgetGame, type SavedGame, savedGames, seatPathOf } from "../transports/saved-games.ts";

/** The games whose current state is requested, the newest ones. */
const MAX_REQUESTED = 12;

/** The games that were played in this browser, with the links of their seats. `version` changes when they must be read again. */
export function YourGames({ known, version }: { readonly known: FactsOfGames; readonly version: unknown }) {
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
