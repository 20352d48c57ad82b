import type { JSX } from "preact";

/** The sign of the site: three bars of a podium. */
export function Podium(): JSX.Element {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" fill="currentColor">
      <rect x="1" y="8" width="4" height="7" rx="1" />
      <rect x="6" y="3" width="4" height="12" rx="1" />
      <rect x="11" y="10" width="4" height="5" rx="1" />
    </svg>
  );
}
