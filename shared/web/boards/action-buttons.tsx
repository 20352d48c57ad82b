import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import type { BoardProps } from "./board-props.ts";

interface Props extends Omit<BoardProps, "side"> {
  /** The label of the group for screen readers. */
  readonly label: string;
  readonly className?: string;
  /** The content of the button of an action. Default: the action as text. */
  readonly contentOf?: (action: unknown) => ComponentChildren;
}

/** A button for each legal action of the viewer, nothing without them. While an action is sent, its button is marked and all are inert. */
export function ActionButtons({
  game,
  canAct,
  pending,
  onPlay,
  label,
  className,
  contentOf,
}: Props): JSX.Element | null {
  const group = useRef<HTMLDivElement>(null);
  // The buttons disappear with the turn. In the next turn the focus returns to them if it was there.
  const hadFocus = useRef(false);
  useEffect(() => {
    if (!canAct || !hadFocus.current) return;
    if (document.activeElement === document.body)
      group.current?.querySelector("button")?.focus({ preventScroll: true });
    hadFocus.current = false;
  }, [canAct, game.tick]);
  const play = (action: unknown): void => {
    hadFocus.current = group.current?.contains(document.activeElement) ?? false;
    if (canAct) onPlay(action);
  };
  if (game.legal_actions.length === 0) return null;
  return (
    <div class={`actions ${className ?? ""}`} role="group" aria-label={label} ref={group} aria-busy={pending !== null}>
      {game.legal_actions.map((action) => (
        <button
          type="button"
          key={JSON.stringify(action)}
          class={isSame(action, pending) ? "action sending" : "action"}
          aria-disabled={!canAct}
          onClick={() => play(action)}
        >
          {contentOf ? contentOf(action) : actionInWords(action)}
        </button>
      ))}
    </div>
  );
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Returns an action as text for people: the fields of an object with their names, `{type: "take", count: 2}` as "take, count 2". */
function actionInWords(action: unknown): string {
  if (Array.isArray(action)) return action.map(actionInWords).join(" ");
  if (typeof action !== "object" || action === null) return spoken(String(action));
  return Object.entries(action)
    .map(([name, value]) => (name === "type" ? actionInWords(value) : `${spoken(name)} ${actionInWords(value)}`))
    .join(", ");
}

/** Returns a text with its first letter in upper case. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
