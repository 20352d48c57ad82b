import type { Clock } from "#shared/lib/clock.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { Turn } from "../sdk.ts";
import type { TurnData } from "./messages.ts";

interface TurnParts {
  readonly history: Turn["history"];
  readonly signal: AbortSignal;
  readonly log: Turn["log"];
  readonly clock: Clock;
}

/** Builds the turn that the bot receives. */
export function turnOf(data: TurnData, { history, signal, log, clock }: TurnParts): Turn {
  const { game, role, view, tick, legal, rejection, deadline, remainingMs, clocks, seed } = data;
  const endsAt = clock.monotonic() + remainingMs;
  let random: Random | undefined;
  return {
    game,
    role,
    view: view as Turn["view"],
    tick,
    history,
    rejection,
    clock: { deadline: new Date(deadline), remainingMs: () => endsAt - clock.monotonic(), match: clocks },
    signal,
    log,
    get legal() {
      if (legal === null) throw new Error(`${game} is unknown to this player, and the request has no legal_actions`);
      return legal as Turn["legal"];
    },
    get random() {
      random ??= createRandom(seed);
      return random;
    },
  };
}
