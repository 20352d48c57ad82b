import { useEffect, useRef, useState } from "preact/hooks";
import type { GameView } from "../game-view.ts";
import type { Transport } from "../transports/transport.ts";
import { laterMoves, type Moves } from "./later-moves.ts";

/** The moves of a game and the position that the person looks at. */
export interface History {
  readonly document: Moves;
  /** The number of moves before the shown position; null for the current position. */
  readonly shown: number | null;
  /** Shows the position after so many moves. The last one is the current position. */
  readonly show: (moves: number) => void;
}

/** Returns the moves of a game, to which the new ones are added after each change; null while there are none. */
export function useHistory({ room }: Transport, game: GameView | null): History | null {
  const [document, setDocument] = useState<Moves | null>(null);
  const known = useRef<Known | null>(null);
  const [shown, setShown] = useState<number | null>(null);
  const [gameId, tick, status] = [game?.game_id, game?.tick, game?.status];
  // Requests the new moves after each change of the game.
  useEffect(() => {
    if (!game || !room) return;
    let isCurrent = true;
    // The moves of this game are shown without the latest ones if the request fails. The next change repeats it.
    const before = known.current?.gameId === game.game_id ? known.current.document : null;
    laterMoves(room, game, before).then(
      (after) => {
        if (!isCurrent) return;
        known.current = { gameId: game.game_id, document: after };
        setDocument(after);
      },
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [room, gameId, tick, status]);
  // Shows the current position again after each move.
  useEffect(() => setShown(null), [gameId, tick]);
  const last = document?.moves.length ?? 0;
  const within = (moves: number): number | null => (moves >= last ? null : Math.max(0, moves));
  const show = (moves: number): void => setShown(within(moves));
  const key = ({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent): void => {
    const isTaken = target instanceof Element && target.closest("[role=grid], input, select, textarea, [role=region]");
    if (isTaken || altKey || ctrlKey || metaKey || !document) return;
    // Several keys may be pressed before the page is drawn again.
    if (key === "ArrowLeft") setShown((at) => within((at ?? last) - 1));
    else if (key === "ArrowRight") setShown((at) => within((at ?? last) + 1));
  };
  useEffect(() => {
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  return document && { document, shown, show };
}

interface Known {
  readonly gameId: string;
  readonly document: Moves;
}

/** Returns the game as it was after the shown number of moves. No role is to act in it. */
export function gameAt(game: GameView, { document: { start, moves }, shown }: History): GameView {
  if (shown === null) return game;
  const move = moves[shown - 1];
  const position = shown === 0 ? start : move?.after;
  if (!position) return game;
  const last_action = move ? { role: move.role, action: move.action, tick: move.tick } : null;
  return { ...game, ...position, last_action, to_act: [], legal_actions: [] };
}
