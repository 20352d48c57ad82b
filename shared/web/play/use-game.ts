import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Claim, GameView } from "#shared/web/game-view.ts";
import { useSteps } from "#shared/web/match/steps.tsx";
import type { HistoryMove } from "#shared/web/play-documents.ts";
import { messageOf, type Transport, UnansweredError } from "#shared/web/transports/transport.ts";
import { laterMoves, type Moves } from "./later-moves.ts";

export interface Playing {
  readonly game: GameView | null;
  /** The fault of the connection, for people; null if there is none. */
  readonly problem: string | null;
  /** The message about the last move, if there is one: why it was rejected, or what to do next. */
  readonly notice: {
    readonly text: string;
    readonly isRejection: boolean;
    /** Whether the move had no answer. The next state of the game shows whether it was made. */
    readonly isUnanswered: boolean;
  } | null;
  /** The action that is being sent; null if there is none. */
  readonly pending: unknown;
  readonly play: (action: unknown, claim: Claim | null) => void;
  readonly resign: () => void;
}

/** Represents a resignation that is being sent. No board shows it. */
const RESIGNATION = {};

/** Returns the game as its transport reports it, and the action that is being sent. */
export function useGame(transport: Transport, first: GameView | null): Playing {
  const [game, setGame] = useState(first);
  const [problem, setProblem] = useState<string | null>(null);
  const [notice, setNotice] = useState<Playing["notice"]>(null);
  const [pending, setPending] = useState<unknown>(null);

  // Before the page is painted, because the host of a frame may post a state as soon as the frame has loaded.
  useLayoutEffect(
    () =>
      transport.open((update) => {
        const { game: next } = update;
        if (next) setGame((current) => later(current, next));
        if (update.problem !== undefined) setProblem(update.problem);
        if (next) setNotice((current) => (current?.isUnanswered ? null : current));
      }),
    [transport],
  );
  const send = async (action: unknown, request: (game: GameView) => Promise<string>): Promise<void> => {
    if (!game || pending !== null) return;
    setPending(action);
    setNotice(null);
    try {
      const text = await request(game);
      if (text !== "") setNotice({ text, isRejection: false, isUnanswered: false });
    } catch (error) {
      setNotice({
        text: rejectionInWords(messageOf(error)),
        isRejection: true,
        isUnanswered: error instanceof UnansweredError,
      });
    }
    setPending(null);
  };
  return {
    game,
    problem,
    notice,
    pending,
    play: (action, claim) => void send(action, (current) => transport.play(current, action, claim)),
    resign: () => void send(RESIGNATION, async (current) => (await transport.resign?.(current)) ?? ""),
  };
}

/** The rejection of a false claim for people. Programs receive the words that the tools of chess prescribe, "Accusation failed: Not checkmate". */
function rejectionInWords(message: string): string {
  const claimed = /^Accusation failed: Not (.+)$/.exec(message)?.[1];
  return claimed === undefined ? message : `Your move does not end the game with ${claimed}, so it was not made.`;
}

/** Returns the later state. An answer that arrives after a later one must not take the game back. */
const later = (current: GameView | null, next: GameView): GameView =>
  current?.game_id === next.game_id && next.tick < current.tick ? current : next;

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
