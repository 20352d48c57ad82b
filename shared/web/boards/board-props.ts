import type { GameView } from "../game-view.ts";

/** What every board gets, whatever its game. */
export interface BoardProps {
  readonly game: GameView;
  /** The role from whose side the board is seen; "spectator" for none. */
  readonly side: string;
  /** The person may act now. */
  readonly canAct: boolean;
  /** The action that is on its way to the server. */
  readonly pending: unknown;
  readonly onPlay: (action: unknown) => void;
}
