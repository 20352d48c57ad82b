import type { GameView } from "../game-view.ts";

/** The properties of every board. */
export interface BoardProps {
  readonly game: GameView;
  /** The role from whose side the board is shown; "spectator" for none. */
  readonly side: string;
  /** Whether the person may act now. */
  readonly canAct: boolean;
  /** The action that is being sent to the server; null if there is none. */
  readonly pending: unknown;
  readonly onPlay: (action: unknown) => void;
}
