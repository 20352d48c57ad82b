import type { JSX } from "preact";
import { spoken } from "../../games/game.ts";
import type { MoveOfTurn } from "../replay-view.ts";
import type { Steps } from "./use-steps.ts";

interface StepBarProps {
  readonly steps: Steps;
  /** The moves of the turn before the shown position; undefined if there are none or they are not loaded. */
  readonly moves: readonly MoveOfTurn[] | undefined;
}

/** The buttons and the slider for the steps of a game, with the move of the shown step. */
export function StepBar({ steps, moves = [] }: StepBarProps): JSX.Element | null {
  const { step, first, last, isPlaying, go, play } = steps;
  if (last === 0) return null;
  const button = (sign: string, label: string, to: number): JSX.Element => (
    <button type="button" aria-label={label} title={label} aria-disabled={to === step} onClick={() => go(to)}>
      <span aria-hidden="true">{sign}</span>
    </button>
  );
  const moved = moves.map(({ role, text }) => `${spoken(role)}: ${text}`).join(", ");
  return (
    <>
      <div class="steps" role="group" aria-label="Steps">
        {button("«", "First step", first)}
        {button("‹", "Previous step", Math.max(first, step - 1))}
        <button type="button" aria-label={isPlaying ? "Pause" : "Play"} onClick={play}>
          <span aria-hidden="true">{isPlaying ? "❚❚" : "▶"}</span>
        </button>
        {button("›", "Next step", Math.min(last, step + 1))}
        {button("»", "Last step", last)}
        <input
          type="range"
          min={first}
          max={last}
          value={step}
          aria-label="Step"
          aria-valuetext={`${step} of ${last}`}
          onInput={(event) => go(event.currentTarget.valueAsNumber)}
        />
      </div>
      <p class="step-text">
        {`Step ${step} of ${last}`}
        {moved !== "" && ` · ${moved}`}
      </p>
    </>
  );
}
