import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../../lib/text.ts";
import type { OperatorDocument } from "../documents/operator.ts";
import { ConfirmButton } from "../play/confirm-button.tsx";
import { ActionBox, type ActionProps, InputFault } from "./operator-parts.tsx";

interface ExtendProps extends Pick<ActionProps, "isBusy" | "onCall"> {
  readonly option: OperatorDocument["extendable"][number];
  /** The number of matches of the league so far; null if it has no fixed end. */
  readonly matches: number | null;
}

/** Raises an option of the format. The field keeps what is typed; the number is checked when the button is pressed. */
export function Extend({
  option: { option, text, value, matches_each },
  matches,
  isBusy,
  onCall,
}: ExtendProps): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const [fault, setFault] = useState("");
  const shown = typed ?? String(value + 1);
  const next = Number(shown);
  const check = (): boolean => {
    const isValid = Number.isSafeInteger(next) && next > value;
    setFault(isValid ? "" : `The number of ${text} must be a whole number of at least ${value + 1}.`);
    return isValid;
  };
  const total = matches === null || matches_each === null ? null : Math.round(matches + (next - value) * matches_each);
  return (
    <ActionBox title="Extend" text={`The number of ${text} is ${value}. It can be raised, but not lowered.`}>
      <label>
        New number of {text}
        <input
          type="number"
          min={value + 1}
          step={1}
          value={shown}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            setFault("");
          }}
        />
      </label>
      <InputFault text={fault} />
      <ConfirmButton
        key={`${value}/${shown}`}
        label="Extend the league"
        question={`Extend to ${shown} ${text}${total === null ? "" : ` (${counted(total, "match", "matches")})`}?`}
        warning="This cannot be undone."
        {...{ yes: "Extend", no: "Keep the number", isBusy, check }}
        onConfirm={() => {
          setTyped(null);
          onCall("extend_league", { format_options: { [option]: next } }, `The number of ${text} is now ${next}.`);
        }}
      />
    </ActionBox>
  );
}
