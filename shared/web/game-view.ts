/** One game as one viewer may see it: what every door hands to a board. Chess: `state` is `{fen, turn, outcome}`, actions are UCI. */
export interface GameView {
  readonly game_id: string;
  /** e.g. "chess.v1"; `name` is for people, "Chess". */
  readonly template: string;
  readonly name: string;
  readonly status: "active" | "completed";
  readonly tick: number;
  /** A role, or "spectator". */
  readonly your_role: string;
  readonly roles: readonly string[];
  readonly players: Readonly<Record<string, PlayerView>>;
  /** Who may act now, as far as the viewer may know. */
  readonly to_act: readonly string[];
  /** The game's `viewState` for this viewer. */
  readonly state: unknown;
  /** Of `your_role`; empty when it is not to act. */
  readonly legal_actions: readonly unknown[];
  /** The position as text. */
  readonly board: string;
  readonly last_action: { readonly role: string; readonly action: unknown; readonly tick: number } | null;
  readonly result: GameResult | null;
}

/** Who sits on a seat. */
export interface PlayerView {
  readonly kind: "agent" | "human" | "bot";
  readonly name: string;
  /** False while the seat is still open for an agent. */
  readonly joined: boolean;
}

export interface GameResult {
  /** The roles that have won: several where a team does, none in a draw. */
  readonly winners: readonly string[];
  /** The one role that has won; null when none has, or several have. */
  readonly winner: string | null;
  readonly reason: string;
  readonly termination: string;
}
