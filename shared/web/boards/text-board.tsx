import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ActionButtons } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";

/** The board of games without a graphical board: the text of the game and a button for each legal action. */
export function TextBoard(props: BoardProps): JSX.Element {
  const { game } = props;
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
      <ActionButtons {...props} label="Legal actions" />
    </>
  );
}
