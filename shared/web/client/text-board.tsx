import type { JSX } from "preact";
import type { BoardProps } from "./board-props.ts";

/** The board of every game that has none of its own: its text, and a button for each legal action. */
export function TextBoard({ game, canAct, onPlay }: BoardProps): JSX.Element {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <pre class="text" aria-label={`${game.name} as text`} role="region" tabIndex={0}>
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
