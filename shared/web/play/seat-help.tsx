import type { JSX } from "preact";
import type { GameView } from "../game-view.ts";
import { savedGames, seatPathOf } from "../transports/saved-games.ts";

interface Props {
  readonly game: GameView;
  readonly role: string;
}

/** The way to the seat of a person who has opened a game without its seat, if this browser knows the seat. */
export function SeatHelp({ game, role }: Props): JSX.Element | null {
  const saved = role === "spectator" ? savedGames().find(({ gameId }) => gameId === game.game_id) : undefined;
  if (!saved) return null;
  return (
    <p class="notice">
      You play in this game. <a href={seatPathOf(saved)}>Open your seat</a>
    </p>
  );
}
