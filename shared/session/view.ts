import type { Viewer } from "../games/game.ts";
import type { Session } from "./session.ts";

/**
 * Returns the view of a session. In games whose views name the end of the game, a session that has ended by a forfeit is over in them, too, although
 * its state is not terminal.
 */
export function viewOf({ game, state, status }: Pick<Session, "game" | "state" | "status">, viewer: Viewer): unknown {
  const view = game.viewState(state, viewer);
  const isOver = status === "completed" && !game.isTerminal(state);
  return isOver && game.endedView ? game.endedView(view) : view;
}
