import type { JSX } from "preact";

import type { RpsAction } from "../../games/rps.ts";

export type Card = "jack" | "queen" | "king";

/** A finger: the middle of its base, its length and its angle to the vertical in degrees. */
interface Finger {
  readonly x: number;
  readonly y: number;
  readonly length: number;
  readonly angle?: number;
  readonly width?: number;
}

interface Shape {
  readonly palm: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  /** The stretched fingers, behind the palm. */
  readonly fingers: readonly Finger[];
  /** The bent fingers and the thumb, in front of the palm. */
  readonly bent: readonly Finger[];
}

/** The hands in a square of 100 units. */
const SHAPES: Readonly<Record<RpsAction, Shape>> = {
  rock: {
    palm: { x: 17, y: 28, width: 66, height: 60 },
    fingers: [],
    bent: [
      ...[26, 42, 58, 74].map((x) => ({ x, y: 56, length: 40, width: 17 })),
      { x: 20, y: 74, length: 48, angle: 79, width: 18 },
    ],
  },
  paper: {
    palm: { x: 28, y: 48, width: 46, height: 42 },
    fingers: [
      { x: 34, y: 60, length: 44, angle: -9 },
      { x: 46, y: 58, length: 50, angle: -3 },
      { x: 57, y: 58, length: 48, angle: 4 },
      { x: 67, y: 62, length: 40, angle: 12 },
      { x: 36, y: 82, length: 38, angle: -52, width: 13 },
    ],
    bent: [],
  },
  scissors: {
    palm: { x: 28, y: 50, width: 44, height: 40 },
    fingers: [
      { x: 42, y: 60, length: 54, angle: -13 },
      { x: 55, y: 60, length: 54, angle: 13 },
    ],
    bent: [
      { x: 54, y: 72, length: 22, width: 13 },
      { x: 66, y: 74, length: 21, width: 13 },
      { x: 32, y: 84, length: 32, angle: 48, width: 14 },
    ],
  },
};

const FingerPath = ({ x, y, length, angle = 0, width = 12 }: Finger): JSX.Element => (
  <rect
    x={x - width / 2}
    y={y - length}
    {...{ width, height: length }}
    rx={width / 2}
    transform={`rotate(${angle} ${x} ${y})`}
  />
);

interface HandProps {
  readonly choice: RpsAction;
  readonly isMirrored?: boolean;
}

/** A hand. The text beside it names it, so it has no label. */
export function Hand({ choice, isMirrored = false }: HandProps): JSX.Element {
  const { palm, fingers, bent } = SHAPES[choice];
  const back = (
    <>
      {fingers.map((finger) => (
        <FingerPath key={finger.x} {...finger} />
      ))}
      <rect {...palm} rx="14" />
    </>
  );
  return (
    <svg class={isMirrored ? "hand mirrored" : "hand"} viewBox="0 0 100 100" aria-hidden="true">
      {/* The outline of all shapes together: the shapes with a stroke, covered by the shapes without. */}
      <g class="outline">{back}</g>
      <g class="skin">{back}</g>
      <g class="skin lined">
        {bent.map((finger) => (
          <FingerPath key={finger.x} {...finger} />
        ))}
      </g>
    </svg>
  );
}

/** The place of a choice that is not made (empty) or not visible (a question mark). */
export const Hidden = ({ isReady }: { readonly isReady: boolean }): JSX.Element => (
  <span class={isReady ? "hidden-choice ready" : "hidden-choice"} aria-hidden="true">
    {isReady ? "?" : ""}
  </span>
);

const SPADE =
  "M0-9C3-4 9-1 9 4a4.6 4.6 0 0 1-8 3q.4 3 2.600 4h-7.200q2.200-1 2.600-4a4.600 4.600 0 0 1-8-3C-9-1-3-4 0-9Z";
const CROWNS: Readonly<Record<Card, string>> = {
  jack: "M-16 8Q-18-4-6-8Q8-12 16-2L12 0L15 8Z",
  queen: "M-16 8L-19-5L-9 0L0-10L9 0L19-5L16 8Z",
  king: "M-17 8L-19-8L-8-1L-2-9V-13H-6V-16H-2V-20H2V-16H6V-13H2V-9L8-1L19-8L17 8Z",
};

/** A playing card; its back if `card` is null. The text beside it names it, so it has no label. */
export function PlayingCard({ card }: { readonly card: Card | null }): JSX.Element {
  if (card === null)
    return (
      <svg class="playing-card back" viewBox="0 0 100 140" aria-hidden="true">
        <rect class="paper" x="1" y="1" width="98" height="138" rx="9" />
        <rect class="pattern" x="8" y="8" width="84" height="124" rx="5" />
        {[0, 1, 2, 3].map((row) =>
          [0, 1, 2].map((column) => (
            <path
              key={`${row}${column}`}
              d="M0-13L11 0L0 13L-11 0Z"
              transform={`translate(${24 + 26 * column} ${25 + 30 * row})`}
            />
          )),
        )}
      </svg>
    );
  const letter = card.charAt(0).toUpperCase();
  const corner = (
    <>
      <text x="14" y="27">
        {letter}
      </text>
      <path d={SPADE} transform="translate(14 40) scale(.8)" />
    </>
  );
  return (
    <svg class="playing-card" viewBox="0 0 100 140" aria-hidden="true">
      <rect class="paper" x="1" y="1" width="98" height="138" rx="9" />
      <g>{corner}</g>
      <g transform="rotate(180 50 70)">{corner}</g>
      <path class="crown" d={CROWNS[card]} transform="translate(50 50)" />
      <text class="figure" x="50" y="100">
        {letter}
      </text>
    </svg>
  );
}

/** A number of chips as discs side by side. */
export const Chips = ({ count }: { readonly count: number }): JSX.Element => (
  <span class="chips" aria-hidden="true">
    {Array.from({ length: count }, (_, index) => (
      <span class="chip" key={index} />
    ))}
  </span>
);
