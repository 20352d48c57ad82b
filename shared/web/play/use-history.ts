import { useEffect, useRef, useState } from "preact/hooks";
import type { GameView } from "../game-view.ts";
import type { HistoryMove } from "../play-documents.ts";
import { useSteps } from "../steps/use-steps.ts";
import type { Transport } from "../transports/transport.ts";
import { laterMoves, type Moves } from "./later-moves.ts";

/** Returns the moves of a game, to which the new ones are added after each change; null while there are none. */
export function useHistory({ room }: Transport, game: GameView | null): Moves | null {
  const [moves, setMoves] = useState<Moves | null>(null);
  const known = useRef<Known | null>(null);
  const [gameId, tick, status] = [game?.game_id, game?.tick, game?.status];
  // Requests the new moves after each change of the game.
  useEffect(() => {
    if (!game || !room) return;
    let isCurrent = true;
    // The moves of this game are shown without the latest ones if the request fails. The next change repeats it.
    const before = known.current?.gameId === game.game_id ? known.current.moves : null;
    laterMoves(room, game, before).then(
      (after) => {
        if (!isCurrent) return;
        known.current = { gameId: game.game_id, moves: after };
        setMoves(after);
      },
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [room, gameId, tick, status]);
  return moves;
}

interface Known {
  readonly gameId: string;
  readonly moves: Moves;
}

/** A turn of one role. Known moves keep their turns, so that the list draws the new ones only. */
interface Turn {
  readonly moves: readonly [HistoryMove];
}
const turnsOf = new WeakMap<HistoryMove, Turn>();

function turnOf(move: HistoryMove): Turn {
  const turn = turnsOf.get(move) ?? { moves: [move] };
  turnsOf.set(move, turn);
  return turn;
}

/** The turns of a game and the one that the person looks at. A new move of the opponent is shown immediately. */
export function useTurns(history: Moves | null, game: GameView | null) {
  const turns = history?.moves.map(turnOf) ?? [];
  const follow = `${game?.game_id} ${game?.tick}`;
  return { turns, steps: useSteps(turns.length, { first: history ? firstStep(history) : 0, follow }) };
}

/** Returns the first step that can be shown: the server omits the positions before the latest moves of a very long game. */
function firstStep({ moves }: Moves): number {
  const unknown = moves.findLastIndex(({ after }) => after === undefined);
  return unknown < 0 ? 0 : Math.min(unknown + 2, moves.length);
}

/** Returns the game as it was after `step` moves. No role is to act in it. */
export function gameAt(game: GameView, { start, moves }: Moves, step: number): GameView {
  if (step === moves.length) return game;
  const move = moves[step - 1];
  const position = step === 0 ? start : move?.after;
  if (!position) return game;
  const last_action = move ? { role: move.role, action: move.action, tick: move.tick } : null;
  return { ...game, ...position, last_action, to_act: [], legal_actions: [] };
}
