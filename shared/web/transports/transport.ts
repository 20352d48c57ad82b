import type { Claim, GameView } from "../game-view.ts";

/** What a transport has to tell: each part only when it is new. */
export interface News {
  readonly game?: GameView;
  /** What is wrong with the connection, for people; null when it is well again. */
  readonly trouble?: string | null;
}

/** The way from a board to its game, and back. */
export interface Transport {
  /** Begins to tell what happens in the game; the function that comes back ends it. */
  open(tell: (news: News) => void): () => void;
  /** The role that the person plays in this game, "spectator" for none. */
  roleIn(game: GameView): string;
  /**
   * Sends an action. Resolves when it was accepted, with a word for the person or ""; what became of the game is told as news. Rejects
   * with an `Error` whose message the person can read.
   */
  play(game: GameView, action: unknown, claim: Claim | null): Promise<string>;
  /** Gives the game up; answers as `play` does. */
  resign(game: GameView): Promise<string>;
}

/** Plain enough to be shown; whoever sent it, a board must not fall over it. */
export function isGameView(value: unknown): value is GameView {
  const view = value as GameView | null | undefined;
  return (
    typeof view === "object" &&
    view !== null &&
    typeof view.game_id === "string" &&
    typeof view.tick === "number" &&
    typeof view.board === "string" &&
    typeof view.players === "object" &&
    Array.isArray(view.to_act) &&
    Array.isArray(view.legal_actions)
  );
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
