import type { JSX } from "preact";
import { useState } from "preact/hooks";

/** A button that copies a text. Screen readers hear that it is copied. */
export function CopyButton({ text }: { readonly text: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  return (
    <>
      <button type="button" onClick={({ currentTarget }) => void copy(text, currentTarget).then(setCopied)}>
        {isCopied ? "Copied" : "Copy"}
      </button>
      <span class="unseen" role="status">
        {isCopied ? "Copied" : ""}
      </span>
    </>
  );
}

/** Copies a text. Returns whether it is copied. Browsers offer the clipboard only to pages of this machine and of HTTPS; others copy a selection. */
async function copy(text: string, button: HTMLElement): Promise<boolean> {
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true; // a phone opens no keyboard
  field.className = "unseen";
  button.after(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  button.focus();
  return isCopied;
}
