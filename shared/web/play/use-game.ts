import { useLayoutEffect, useState } from "preact/hooks";
import type { Claim, GameView } from "../game-view.ts";
import { messageOf, type Transport, UnansweredError } from "../transports/transport.ts";

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
    ...{ game, problem, notice, pending },
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
