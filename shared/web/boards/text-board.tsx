import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { BoardProps } from "./board-props.ts";

/** The board of games without a graphical board: the text of the game and a button for each legal action. */
export function TextBoard({ game, canAct, onPlay }: BoardProps): JSX.Element {
  const text = useRef<HTMLPreElement>(null);
  // The current state is at the end of the text.
  useLayoutEffect(() => {
    if (text.current) text.current.scrollTop = text.current.scrollHeight;
  }, [game.board]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by the keyboard */}
      <pre class="text" ref={text} aria-label={`${game.name} as text`} role="region" tabIndex={0}>
        {game.board}
      </pre>
      {canAct && (
        <div class="actions" role="group" aria-label="Legal actions">
          {game.legal_actions.map((action) => (
            <button type="button" key={labelOf(action)} onClick={() => onPlay(action)}>
              {labelOf(action)}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

const labelOf = (action: unknown): string => (typeof action === "string" ? action : JSON.stringify(action));
