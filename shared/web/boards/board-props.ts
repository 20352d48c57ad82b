import type { GameView } from "../game-view.ts";
import type { HistoryDocument } from "../play-documents.ts";

/** The properties of every board. */
export interface BoardProps {
  readonly game: GameView;
  /** The role from whose side the board is shown; "spectator" for none. */
  readonly side: string;
  /** Whether the person may act now. */
  readonly canAct: boolean;
  /** The action that is being sent to the server; null if there is none. */
  readonly pending: unknown;
  /** The earlier positions as the viewer has seen them, if the page knows them. */
  readonly history?: Pick<HistoryDocument, "start" | "moves"> | null;
  readonly onPlay: (action: unknown) => void;
}
