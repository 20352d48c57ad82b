import type { JSX } from "preact";
import { encode } from "uqr";

/** The width of the white margin, in modules. Scanners need at least 4. */
const MARGIN = 4;

/** A QR code of a text. It has dark modules on white in every colour scheme, because many scanners need that. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const { data, size } = encode(text, { ecc: "M", border: 0 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : "")))
    .join("");
  const width = size + 2 * MARGIN;
  return (
    <svg class="qr-code" viewBox={`0 0 ${width} ${width}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect class="qr-light" width={width} height={width} />
      <path class="qr-dark" d={path} />
    </svg>
  );
}
