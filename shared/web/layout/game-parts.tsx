import type { JSX } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";
import type { GameFacts, GameView } from "#shared/web/game-view.ts";
import { clockInWords, clockStepMs } from "#shared/web/texts/game-texts.ts";

type Turn = Pick<GameView, "status" | "last_action" | "clock">;

/**
 * Returns the time on the clock of this page (`performance.now()`) at which the open turn of `game`, the last known state, began. A turn begins when the
 * one before it is closed.
 */
export function useTurnStart(game: Turn | null | undefined): number {
  const known = useRef({ game, turn: "", at: 0 });
  const { current } = known;
  const turn = turnOf(game);
  if (current.turn !== turn || current.game !== game) {
    const at = performance.now() - (game?.clock?.elapsed_ms ?? 0);
    // A state that was received late, e.g. from another tab, names too short a time.
    known.current = { game, turn, at: current.turn === turn ? Math.min(current.at, at) : at };
  }
  return known.current.at;
}

/** Identifies a turn. A request that is repeated with other clocks begins a turn. */
const turnOf = (game: Turn | null | undefined): string =>
  JSON.stringify([game?.status === "waiting_for_players", game?.last_action?.tick, game?.clock?.remaining_ms]);

interface Props {
  readonly game: Pick<GameView, "status" | "to_act" | "clock">;
  readonly role: string;
  /** The result of `useTurnStart`; null for a state that is not the last one, whose clocks stand still. */
  readonly turnStart: number | null;
}

/** The clock of a role. The clocks of the roles to move run. Screen readers do not announce a timer by themselves. */
export function GameClock({ game, role, turnStart }: Props): JSX.Element | null {
  const atTurn = game.clock?.remaining_ms[role];
  const isRunning = game.status === "active" && game.to_act.includes(role);
  const left = useTimeLeft(atTurn ?? 0, turnStart, isRunning);
  if (atTurn === undefined) return null;
  return (
    <span class="game-clock" role="timer">
      {clockInWords(left)}
    </span>
  );
}

/** The time left. A clock that stops within a turn keeps its time, because the charge is known only when the turn is closed. */
function useTimeLeft(atTurn: number, turnStart: number | null, isRunning: boolean): number {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const known = useRef({ atTurn, turnStart, left: atTurn });
  if (known.current.atTurn !== atTurn || known.current.turnStart !== turnStart) {
    known.current = { atTurn, turnStart, left: atTurn };
  }
  if (turnStart !== null && isRunning) known.current.left = Math.max(0, atTurn - (performance.now() - turnStart));
  const { left } = known.current;
  const runs = turnStart !== null && isRunning && left > 0;
  // After each change of the text, the timer for the next one. A hidden tab has none.
  useEffect(() => {
    if (!runs) return;
    const timer = document.hidden ? undefined : setTimeout(redraw, clockStepMs(left));
    document.addEventListener("visibilitychange", redraw);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", redraw);
    };
  });
  return left;
}

/** The rules of a game for people, below a summary, because most people know them. */
export const HowToPlay = ({ facts }: { readonly facts: GameFacts | undefined }): JSX.Element | null =>
  facts?.howToPlay ? (
    <details class="how-to-play">
      <summary>How to play</summary>
      <p>{facts.howToPlay}</p>
    </details>
  ) : null;
