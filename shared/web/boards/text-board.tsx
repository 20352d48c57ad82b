import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { BoardProps } from "./board-props.ts";

/** The board of every game that has none of its own: its text, and a button for each legal action. */
export function TextBoard({ game, canAct, onPlay }: BoardProps): JSX.Element {
  const text = useRef<HTMLPreElement>(null);
  // How it stands now is at the end of what has happened.
  useLayoutEffect(() => {
    if (text.current) text.current.scrollTop = text.current.scrollHeight;
  }, [game.board]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
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
