import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly question: ComponentChildren;
  /** What the action costs. */
  readonly warning?: string;
  readonly yes: string;
  readonly no: string;
  readonly isBusy: boolean;
  /** Checks the input before the question. Nothing is asked if it returns false. */
  readonly check?: () => boolean | Promise<boolean>;
  readonly onConfirm: () => void;
}

const focus = (button: HTMLElement | null): void => button?.focus();

/**
 * A button for an action that cannot be taken back. It asks for a confirmation first. The focus goes to the answer that
 * changes nothing, which also brings the question into view, and returns to the button.
 */
export function ConfirmButton({ label, question, warning, yes, no, isBusy, check, onConfirm }: Props): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const [wasAsked, setAsked] = useState(false);
  const ask = (): void => {
    setAsking(true);
    setAsked(true);
  };
  const press = async (): Promise<void> => {
    if (check === undefined || (await check())) ask();
  };
  if (!isAsking) {
    return (
      <button type="button" class="confirm" disabled={isBusy} ref={wasAsked ? focus : null} onClick={press}>
        {label}
      </button>
    );
  }
  const confirm = (): void => {
    setAsking(false);
    onConfirm();
  };
  return (
    <fieldset class="confirm">
      <legend>{question}</legend>
      {warning && <p>{warning}</p>}
      <button type="button" disabled={isBusy} onClick={confirm}>
        {yes}
      </button>
      <button type="button" ref={focus} onClick={() => setAsking(false)}>
        {no}
      </button>
    </fieldset>
  );
}
