import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { roleInWords } from "../texts/game-texts.ts";
import type { History } from "./use-history.ts";

interface Props {
  readonly history: History;
  /** Whether moves are numbered in pairs, as in chess. */
  readonly isPaired: boolean;
}

/** The moves of a game. Each shows the position after it. */
export function MoveList({ history, isPaired }: Props): JSX.Element | null {
  const { document, shown, show } = history;
  const { moves } = document;
  const list = useRef<HTMLOListElement>(null);
  const at = shown ?? moves.length;
  useLayoutEffect(() => {
    const current = list.current?.querySelector<HTMLElement>("[aria-current]");
    // `scrollIntoView` would also scroll the page.
    if (list.current && current) list.current.scrollTop = current.offsetTop - list.current.clientHeight / 2;
  }, [at]);
  if (moves.length === 0) return null;
  // In a game that begins with a move of the second role, the first row has one move.
  const offset = isPaired && moves[0]?.role === "black" ? 1 : 0;
  return (
    <section class="move-list" aria-label="Moves">
      <ol ref={list} class={isPaired ? "paired" : ""}>
        {moves.map(({ tick, role, text, after }, index) => (
          <li key={tick} class={index === 0 && offset === 1 ? "second" : ""}>
            {isPaired && (index + offset) % 2 === 0 && (
              <span class="number" aria-hidden="true">
                {(index + offset) / 2 + 1}.
              </span>
            )}
            <button
              type="button"
              disabled={after === undefined}
              {...(index + 1 === at && { "aria-current": "step" as const })}
              onClick={() => show(index + 1)}
            >
              <span class={isPaired ? "unseen" : "mover"}>{roleInWords(role)} </span>
              {text}
            </button>
          </li>
        ))}
      </ol>
      <div class="steps">
        <Step label="First step" sign="«" isOff={at === 0} onStep={() => show(0)} />
        <Step label="Previous step" sign="‹" isOff={at === 0} onStep={() => show(at - 1)} />
        <Step label="Next step" sign="›" isOff={shown === null} onStep={() => show(at + 1)} />
        <Step label="Last step" sign="»" isOff={shown === null} onStep={() => show(moves.length)} />
      </div>
    </section>
  );
}

interface StepProps {
  readonly label: string;
  readonly sign: string;
  readonly isOff: boolean;
  readonly onStep: () => void;
}

const Step = ({ label, sign, isOff, onStep }: StepProps): JSX.Element => (
  <button type="button" aria-label={label} title={label} disabled={isOff} onClick={onStep}>
    <span aria-hidden="true">{sign}</span>
  </button>
);
