import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import type { Frame } from "../replay-view.ts";

interface Props {
  readonly frames: readonly (Frame | undefined)[];
  readonly roles: readonly string[];
  readonly step: number;
  readonly go: (step: number) => void;
  /** Whether two moves have one number, as in chess. */
  readonly isPaired: boolean;
}

/** The moves of a match. A click shows the step after a move. */
export function MoveList({ frames, roles, step, go, isPaired }: Props): JSX.Element | null {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const current = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (!list.current || !current) return;
    // `scrollIntoView` would also move the page.
    list.current.scrollTop = current.offsetTop - list.current.clientHeight / 2;
  }, [step, frames.length]);
  if (frames.length < 2) return null;
  const blackBegins = isPaired && frames[1]?.moves[0]?.role === roles[1];
  return (
    <section class="match-moves" aria-labelledby="moves-heading">
      <h2 id="moves-heading">Moves</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by the keyboard */}
      <ol ref={list} class={isPaired ? "paired" : ""} tabIndex={0}>
        {frames.slice(1).map((frame, index) => {
          const at = index + 1;
          return (
            <li key={at}>
              <span class="number">{isPaired ? numberOfPly(index, blackBegins) : `${at}.`}</span>
              <button type="button" aria-current={at === step ? "step" : undefined} onClick={() => go(at)}>
                {frame ? textOf(frame, isPaired) : "…"}
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Returns the number before a move of chess: "1." before the move of white, "" before that of black, "1…" if black begins. */
function numberOfPly(index: number, blackBegins: boolean): string {
  const ply = index + (blackBegins ? 1 : 0);
  if (ply % 2 === 0) return `${ply / 2 + 1}.`;
  return index === 0 ? "1…" : "";
}

function textOf({ moves }: Frame, isPaired: boolean): string {
  if (isPaired) return moves.map(({ text }) => text).join(" ");
  return moves.map(({ role, text }) => `${spoken(role)}: ${text}`).join(" · ");
}
