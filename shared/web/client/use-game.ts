import { useEffect, useState } from "preact/hooks";
import type { Claim, GameView } from "../game-view.ts";
import { messageOf, type Transport } from "../transports/transport.ts";

interface Playing {
  readonly game: GameView | null;
  /** What is wrong with the connection. */
  readonly trouble: string | null;
  /** What the last move led to, if it needs a word: why it was refused, what to do next. */
  readonly notice: { readonly text: string; readonly isRejection: boolean } | null;
  /** The action that is on its way. */
  readonly pending: unknown;
  readonly play: (action: unknown, claim: Claim | null) => void;
  readonly resign: () => void;
}

/** Stands for a resignation that is on its way; no board shows it. */
const RESIGNATION = {};

/** A game as its transport tells it, and the move that is on its way. */
export function useGame(transport: Transport, first: GameView | null): Playing {
  const [game, setGame] = useState(first);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [notice, setNotice] = useState<Playing["notice"]>(null);
  const [pending, setPending] = useState<unknown>(null);

  useEffect(
    () =>
      transport.open((news) => {
        const { game: next } = news;
        if (next) setGame((current) => later(current, next));
        if (news.trouble !== undefined) setTrouble(news.trouble);
      }),
    [transport],
  );
  const send = async (action: unknown, sent: (game: GameView) => Promise<string>): Promise<void> => {
    if (!game || pending !== null) return;
    setPending(action);
    setNotice(null);
    try {
      const text = await sent(game);
      if (text !== "") setNotice({ text, isRejection: false });
    } catch (error) {
      setNotice({ text: messageOf(error), isRejection: true });
    }
    setPending(null);
  };
  return {
    ...{ game, trouble, notice, pending },
    play: (action, claim) => void send(action, (now) => transport.play(now, action, claim)),
    resign: () => void send(RESIGNATION, (now) => transport.resign(now)),
  };
}

/** An answer that was overtaken on its way must not turn the game back. */
const later = (current: GameView | null, next: GameView): GameView =>
  current?.game_id === next.game_id && next.tick < current.tick ? current : next;
