import type { StartGame } from "#shared/protocol/messages.ts";
import type { GameSummary, GameView } from "#shared/web/game-view.ts";

/** What the pages say about a league match: its league, its id, why it began again, and the names of its players by role. */
interface MatchLabel {
  readonly match: NonNullable<GameView["match"]>;
  readonly restart: GameView["restart"];
  readonly names: Readonly<Record<string, string>>;
}

const MAX_MATCHES = 10_000;

/**
 * The names of league matches, for readers of the pages. They are in memory only, because session logs contain ids and no names, so that a
 * name can be erased. After a restart a match has names again when its order is repeated.
 */
export class MatchNames {
  readonly #limit: number;
  /** By session id, oldest first. */
  readonly #labels = new Map<string, MatchLabel>();

  constructor(limit = MAX_MATCHES) {
    this.#limit = limit;
  }

  /** Adds the names of an order. Removes the oldest match at the limit. */
  add(sessionId: string, { league_id, match_id, roles, epoch, restart_reason }: StartGame): void {
    const named = Object.entries(roles).flatMap(([role, { display_name }]) =>
      display_name ? [[role, display_name]] : [],
    );
    this.#labels.delete(sessionId);
    const restart = epoch > 1 ? { attempt: epoch, reason: restart_reason ?? null } : undefined;
    this.#labels.set(sessionId, { match: { league_id, match_id }, restart, names: Object.fromEntries(named) });
    if (this.#labels.size <= this.#limit) return;
    const [oldest = ""] = this.#labels.keys();
    this.#labels.delete(oldest);
  }

  /** Returns the view of a spectator with the names of the players. Views of players are returned unchanged. */
  inView(view: GameView): GameView {
    const label = view.your_role === "spectator" ? this.#labels.get(view.game_id) : undefined;
    if (!label) return view;
    const players = Object.entries(view.players).map(([role, player]) => [
      role,
      { ...player, name: label.names[role] ?? player.name },
    ]);
    const { match, restart } = label;
    return { ...view, match, ...(restart && { restart }), players: Object.fromEntries(players) };
  }

  /** Returns why a match has begun again, as a field; without the field in the first attempt and in other games. */
  restartOf(sessionId: string): Pick<GameView, "restart"> {
    const restart = this.#labels.get(sessionId)?.restart;
    return restart ? { restart } : {};
  }

  /** Returns an entry of the list of games with the names of the players. */
  inList<T extends GameSummary>(game: T): T {
    const label = this.#labels.get(game.game_id);
    return label ? { ...game, match: label.match, players: { ...game.players, ...label.names } } : game;
  }
}
