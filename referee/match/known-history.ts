import type { Game, Role } from "#shared/games/game.ts";
import { historyIn, withHistory } from "#shared/games/view-history.ts";
import type { OmittedHistory } from "#shared/protocol/message-fields.ts";

/** The fields of a MOVE_REQUEST with a view. */
interface ShownView {
  readonly game_state: unknown;
  readonly omitted_history?: OmittedHistory;
}

/** A player that has lost its history this often in a match gets complete views: each loss costs an invitation and two requests. */
const MAX_LOSSES = 2;

/**
 * The part of the history in its views that each player has: that of the last request that it has answered with a move since its last
 * invitation. Later requests leave it out (PROTOCOL.md, "Views without the known history").
 */
export class KnownHistory {
  readonly #known = new Map<Role, number>();
  readonly #losses = new Map<Role, number>();

  /** Returns the fields of a request that show a view of a role, without the history that the player has. */
  shownView({ info }: Game, role: Role, view: unknown): ShownView {
    const from = this.#known.get(role) ?? 0;
    const list = info.history && historyIn(view, info.history);
    if (!list || from === 0 || from > list.length) return { game_state: view };
    const game_state = withHistory(view, info.history, list.slice(from));
    return { game_state, omitted_history: { list: [...info.history], from } };
  }

  /** The player of a role has answered a request with this view. It has the view also if its move was illegal. */
  answered({ info }: Game, role: Role, { game_state, omitted_history }: ShownView): void {
    if ((this.#losses.get(role) ?? 0) >= MAX_LOSSES) return;
    const shown = info.history && historyIn(game_state, info.history);
    this.#known.set(role, (omitted_history?.from ?? 0) + (shown?.length ?? 0));
  }

  /** The player of a role does not know the match, or lacks what a request has left out. It is invited again. */
  forget(role: Role): void {
    if (this.#known.delete(role)) this.#losses.set(role, (this.#losses.get(role) ?? 0) + 1);
  }
}
