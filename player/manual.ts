import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Answer } from "#shared/rpc/operations.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import type { Turn } from "./sdk.ts";

interface Waiting {
  readonly turn: Turn;
  readonly answer: (move: unknown) => void;
}

/** A player run by hand: a move request waits until make_move answers it or its time is over. */
export function createManualBot(): { bot: LoadedBot; makeMove: (move: unknown) => Answer } {
  const waiting: Waiting[] = [];

  const choose = (turn: Turn): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const one: Waiting = { turn, answer: resolve };
      waiting.push(one);
      turn.log(`your move as ${turn.role} in ${turn.game}: ${JSON.stringify(turn.view)}; call make_move`);
      turn.signal.addEventListener("abort", () => {
        const place = waiting.indexOf(one);
        if (place >= 0) waiting.splice(place, 1);
        reject(new Error("no move was made in time"));
      });
    });

  return {
    bot: { name: "manual", file: null, create: () => ({ choose }) },
    /** Answers the oldest waiting request. */
    makeMove(move) {
      const one = waiting.shift();
      if (!one) return err(protocolError("G004", "no move is asked of you now", {}, true));
      one.answer(move);
      return ok({ status: "SENT", game: one.turn.game, your_role: one.turn.role, tick: one.turn.tick, move });
    },
  };
}
