import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

interface Drawing {
  readonly size: number;
  readonly path: string;
}

interface Props {
  readonly text: string;
  readonly label: string;
}

/** A QR code of a text. It is dark on white in every colour scheme, because scanners need it. */
export function QrCode({ text, label }: Props): JSX.Element | null {
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  useEffect(() => {
    let isCurrent = true;
    // Loaded when it is needed, because most pages have no code.
    import("./qr-encoder.ts").then(({ encode }) => {
      const { size, data } = encode(text, { border: 2 });
      const dark = (row: readonly boolean[], y: number): string =>
        row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")).join("");
      if (isCurrent) setDrawing({ size, path: data.map(dark).join("") });
    });
    return () => {
      isCurrent = false;
    };
  }, [text]);
  if (!drawing) return <span class="qr" />;
  return (
    <svg class="qr" viewBox={`0 0 ${drawing.size} ${drawing.size}`} role="img" aria-label={label}>
      <path class="qr-light" d={`M0 0h${drawing.size}v${drawing.size}H0z`} />
      <path class="qr-dark" d={drawing.path} />
    </svg>
  );
}

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
