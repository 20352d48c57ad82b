import type { GameView } from "../game-view.ts";
import type { HistoryDocument } from "../play-documents.ts";
import type { GameRoom } from "../transports/transport.ts";

/** The moves of a game from the first one. */
export type Moves = Pick<HistoryDocument, "start" | "moves">;

/** Returns the known moves of a game with those that were played since. Only the last known move and later ones are requested. */
export async function laterMoves(
  room: Pick<GameRoom, "history">,
  game: GameView,
  before: Moves | null,
): Promise<Moves> {
  const last = before?.moves.at(-1);
  if (!before || !last) return room.history(game, 0);
  const kept = before.moves.slice(0, -1);
  const { start, moves } = await room.history(game, kept.length);
  // A move that was hidden when it was played can appear between known ones. Known moves stay known, so the same move at the same place has the same
  // moves before it.
  if (moves[0]?.tick !== last.tick) return room.history(game, 0);
  return { start, moves: [...kept, ...moves] };
}
