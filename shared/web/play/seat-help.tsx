import type { JSX } from "preact";
import type { GameView } from "../game-view.ts";
import { savedGames, seatPathOf } from "../transports/saved-games.ts";

interface SeatHelpProps {
  readonly game: GameView;
  readonly role: string;
}

/** A link to the person's seat, for a game that was opened without the link of the seat. Shown if this browser has saved the seat. */
export function SeatHelp({ game, role }: SeatHelpProps): JSX.Element | null {
  const saved = role === "spectator" ? savedGames().find(({ gameId }) => gameId === game.game_id) : undefined;
  if (!saved) return null;
  return (
    <p class="notice">
      You play in this game. <a href={seatPathOf(saved)}>Open your seat</a>
    </p>
  );
}
