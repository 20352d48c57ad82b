import { completeView, type HistoryPath, historyIn, withOwnHistory } from "#shared/games/view-history.ts";
import type { MoveRequest } from "#shared/protocol/messages.ts";

/** The longest history that a player keeps of a match, in characters of JSON: about four times that of the largest complete request. */
const MAX_HISTORY_CHARACTERS = 1_000_000;

/** The complete view of the last turn of a match. Later requests may leave out what is in it (PROTOCOL.md, "Views without the known history"). */
export class LastView {
  #tick = -1;
  #view: unknown;
  /** The length of its history as JSON; null until a request needs it. */
  #characters: number | null = null;

  /**
   * Returns a request with its complete view, and remembers the view. Returns null if the player does not have what is left out, or if the history would
   * be too long. `path` is that of the history in the game; null if the player does not know the game.
   */
  complete(request: MoveRequest, path: HistoryPath | null): MoveRequest | null {
    const { tick, game_state, omitted_history: omitted } = request;
    if (!omitted) {
      this.#remember(tick, game_state, path, null);
      return request;
    }
    const view = completeView(game_state, omitted, this.#view);
    const characters = view === null ? 0 : this.#charactersWith(game_state, omitted);
    if (view === null || characters > MAX_HISTORY_CHARACTERS) return null;
    this.#remember(tick, view, omitted.list, characters);
    return { ...request, game_state: view };
  }

  #remember(tick: number, view: unknown, path: HistoryPath | null, characters: number | null): void {
    // A request of an earlier turn can arrive late, and its view has less.
    if (tick < this.#tick) return;
    this.#tick = tick;
    this.#view = path ? withOwnHistory(view, path) : view;
    this.#characters = characters;
  }

  /** The length of the history with the elements of a request, as JSON. A usual request adds all its elements, which need not be counted again then. */
  #charactersWith(added: unknown, { list, from }: { readonly list: HistoryPath; readonly from: number }): number {
    const known = historyIn(this.#view, list) ?? [];
    const isAllKept = from === known.length && this.#characters !== null;
    const kept = isAllKept ? (this.#characters ?? 0) : JSON.stringify(known.slice(0, from)).length;
    return kept + JSON.stringify(historyIn(added, list)).length;
  }
}
