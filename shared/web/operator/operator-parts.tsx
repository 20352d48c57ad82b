import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import type { OperatorDocument } from "../documents/operator.ts";
import { visibleText } from "../texts/visible-text.ts";

/** A player as the operator sees it. */
export interface KnownPlayer {
  readonly player_id: string;
  readonly display_name: string;
}

export interface ActionProps {
  readonly document: OperatorDocument;
  readonly players: readonly KnownPlayer[];
  readonly isBusy: boolean;
  /** Calls a tool for the league. `done` is shown after success. */
  readonly onCall: (tool: string, args: object, done: ComponentChildren) => void;
}

interface ActionBoxProps {
  readonly title: string;
  readonly text: string;
  readonly children: ComponentChildren;
}

/** One action with its consequences. */
export function ActionBox({ title, text, children }: ActionBoxProps): JSX.Element {
  const id = useId();
  return (
    <section class="box operator-action" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <p>{text}</p>
      {children}
    </section>
  );
}

/** What is wrong with the input of an action; empty if nothing is. */
export const InputFault = ({ text }: { readonly text: string }): JSX.Element => (
  <p class="input-fault" role="alert">
    {text}
  </p>
);

interface SelectProps {
  readonly label: string;
  readonly players: readonly KnownPlayer[];
  readonly value: string;
  readonly onChange: (playerId: string) => void;
}

export function PlayerSelect({ label, players, value, onChange }: SelectProps): JSX.Element {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">Choose a player</option>
        {players.map(({ player_id, display_name }) => (
          <option key={player_id} value={player_id} dir="auto">
            {display_name} ({player_id})
          </option>
        ))}
      </select>
    </label>
  );
}

/** The name of a player in a sentence. */
export const Name = ({ text }: { readonly text: string }): JSX.Element => <bdi>{visibleText(text)}</bdi>;
