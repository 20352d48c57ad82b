import type { Claim, GameView } from "#shared/web/game-view.ts";
import type { HistoryDocument, InvitationsDocument } from "#shared/web/play-documents.ts";

/** An update of a transport. Each part is present only if it has changed. */
export interface GameUpdate {
  readonly game?: GameView;
  /** The fault of the connection, for people; null if there is none. */
  readonly problem?: string | null;
}

/** The connection between a board and its game. */
export interface Transport {
  /** Starts to report updates of the game. Returns a function that ends the reports. */
  open(listener: (update: GameUpdate) => void): () => void;
  /** Returns the role that the person plays in this game; "spectator" for none. */
  roleIn(game: GameView): string;
  /**
   * Sends an action. Resolves when it was accepted, with a message for the person or "". The new state of the game is
   * reported as an update. Rejects with an `Error` whose message is for the person.
   */
  play(game: GameView, action: unknown, claim: Claim | null): Promise<string>;
  /** Resigns the game. Resolves and rejects as `play` does. Absent if the game cannot be resigned. */
  resign?(game: GameView): Promise<string>;
  /** The functions of the session host around a game. Absent if the board communicates with another server. */
  readonly room?: GameRoom;
}

/** The functions of the session host around a game. They reject as `play` does. */
export interface GameRoom {
  /** Whether the link of the page has a token. */
  readonly hasToken: boolean;
  /** Returns the moves of the game without the first `from` ones. */
  history(game: GameView, from: number): Promise<HistoryDocument>;
  /** How the other players get their seats. */
  invitations(game: GameView): Promise<InvitationsDocument>;
  /** Names the person, who has no name. */
  setName(game: GameView, name: string): Promise<void>;
  /** Returns the path of the person's seat in the rematch; null if no player has asked for one. */
  rematch(game: GameView): Promise<string | null>;
  /** Creates the rematch, unless the opponent has. Returns the path of the person's seat in it. */
  startRematch(game: GameView): Promise<string | null>;
}

/**
 * Returns whether a value has the fields that a board reads. The value may come from any sender and must not break the
 * board.
 */
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

/** A request without an answer. The page does not know whether the request has arrived. */
export class UnansweredError extends Error {}

/** Returns the message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A failure that a repeated request would not change. */
export class FinalError extends Error {}

/** The server cannot show this game now, for the reason that it has sent. */
export class UnavailableError extends Error {}

/** Returns the error of a request that had no answer. */
export const unreachable = (): Error => new UnansweredError("The server cannot be reached. Try again.");

/** Returns the error of a failed request, with the message of the server's answer `{error: {code, message}}`. */
export async function failureOf(response: Response): Promise<Error> {
  const body = (await response.json().catch(() => null)) as { error?: { message?: unknown } } | null;
  const message = body?.error?.message;
  const text = typeof message === "string" ? message : `The server answered with ${response.status}.`;
  if (response.status === 503 && text === message) return new UnavailableError(text);
  return [401, 403, 404, 410].includes(response.status) ? new FinalError(text) : new Error(text);
}
