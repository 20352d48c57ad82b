import type { ComponentChildren, JSX } from "preact";
import { spoken } from "#shared/games/game.ts";
import type { RpsAction } from "#shared/games/rps.ts";
import { escapeUnprintable } from "#shared/lib/text.ts";
import { type GameView, GUEST, nameInWords } from "#shared/web/game-view.ts";
import { capitalized } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";

/** A round that a board shows. A choice is null if it is not made or not visible. */
export interface Round<Choice> {
  readonly round: number;
  readonly choices: Readonly<Record<string, Choice | null>>;
  /** The role that has won the round; null in a draw and in an open round. */
  readonly winner: string | null;
  readonly isOpen: boolean;
}

interface Rounds<Choice> extends Pick<BoardProps, "game" | "pending"> {
  /** The number of the open round. */
  readonly round: number;
  /** The choices of the open round. */
  readonly choices: Round<Choice>["choices"];
  readonly closed: readonly Omit<Round<Choice>, "isOpen">[];
}

/**
 * Returns the round to show: the open one as soon as it has a visible choice, before that the last closed one. The
 * players would not see how a round ended otherwise, because the next one is open at the same time.
 */
export function roundToShow<Choice>({ game, pending, round, choices, closed }: Rounds<Choice>): Round<Choice> {
  const last = closed.at(-1);
  const isOver = game.status === "completed";
  const open = { round, choices, winner: null, isOpen: !isOver };
  if (pending !== null && game.legal_actions.includes(pending))
    return { ...open, choices: { ...choices, [game.your_role]: pending as Choice } };
  const isEmpty = Object.values(choices).every((choice) => choice === null);
  return last && (isOver || isEmpty) ? { ...last, isOpen: false } : open;
}

/** Returns the roles with the role at whose side the board is shown first. */
export const rolesFrom = ({ roles }: GameView, side: string): readonly string[] =>
  roles.includes(side) ? [side, ...roles.filter((role) => role !== side)] : roles;

/** Returns a role as a title: "Player 1", "Odd". */
export const titleOf = (role: string): string =>
  capitalized(role === role.toUpperCase() ? role.toLowerCase() : spoken(role));

/** Returns the name of the player of a role; the role if it has no name, "You" for a viewer without a name. */
export const playerOf = ({ players, your_role }: GameView, role: string): string => {
  const player = players[role];
  if (player?.name === GUEST && role === your_role) return "You";
  return escapeUnprintable((player && nameInWords(player)) || titleOf(role));
};

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Returns a role as the subject of a sentence: "you" or the name of its player, which does not change the direction of the sentence. */
function subjectOf(game: GameView, role: string): string {
  const name = playerOf(game, role);
  if (role === game.your_role) return "you";
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** Returns a verb for a subject: "you win", "Ann wins". */
export const withVerb = (game: GameView, role: string, verb: string): string =>
  `${subjectOf(game, role)} ${verb}${role === game.your_role ? "" : "s"}`;

interface SeatProps {
  readonly game: GameView;
  readonly role: string;
  readonly score: ComponentChildren;
  readonly isWinner: boolean;
  /** What the role does or has done. */
  readonly caption: string;
  readonly children: ComponentChildren;
}

/** A player with the score and the hand, number or card of the round. */
export function Seat({ game, role, score, isWinner, caption, children }: SeatProps): JSX.Element {
  const player = playerOf(game, role);
  const title = titleOf(role);
  return (
    <section class={isWinner ? "seat winner" : "seat"} aria-label={player === title ? title : `${title}, ${player}`}>
      <h2>
        <bdi>{player}</bdi>
        {role === game.your_role && player !== "You" && " (you)"}
      </h2>
      <p class="role">
        {player === title ? "" : title} <span class="score">{score}</span>
      </p>
      <div class="shown">{children}</div>
      <p class="caption">{caption}</p>
    </section>
  );
}

interface ChoicesProps<Choice> {
  readonly game: GameView;
  /** The roles in the order of their seats. */
  readonly roles: readonly string[];
  readonly round: Round<Choice>;
  /** Returns the number of won rounds; undefined in a game of one round. */
  readonly wonBy: (role: string) => number | undefined;
  readonly drawingOf: (choice: Choice, role: string) => JSX.Element;
  /** Whether the caption also names a visible choice. */
  readonly namesChoices: boolean;
}

/** The seats of a simultaneous round, with the visible choices. */
export function SeatsWithChoices<Choice>(props: ChoicesProps<Choice>): JSX.Element {
  const { game, roles, round, wonBy, drawingOf, namesChoices } = props;
  return (
    <div class="seats">
      {roles.map((role) => {
        const choice = round.choices[role] ?? null;
        const won = wonBy(role);
        const isReady = round.isOpen && game.status === "active" && !game.to_act.includes(role);
        return (
          <Seat
            key={role}
            {...{ game, role }}
            score={won !== undefined && `${won} won`}
            isWinner={!round.isOpen && round.winner === role}
            caption={choice === null || namesChoices ? captionOf(game, role, round) : ""}
          >
            {choice === null ? <Hidden isReady={isReady} /> : drawingOf(choice, role)}
          </Seat>
        );
      })}
    </div>
  );
}

interface TableProps {
  readonly title: string;
  readonly columns: readonly string[];
  /** The rows, the oldest first. The first cell of a row is its header. */
  readonly rows: readonly (readonly ComponentChildren[])[];
}

/** The closed rounds, the newest first. */
export function RoundsTable({ title, columns, rows }: TableProps): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by the keyboard
    <section class="rounds" aria-label={title} tabIndex={0}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                <bdi>{column}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map(([first, ...others], age) => (
            <tr key={rows.length - age}>
              <th scope="row">{first}</th>
              {others.map((cell, column) => (
                <td key={columns[column + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Returns "Ann has chosen." if the other players have chosen and the viewer has not; otherwise "". */
export function haveChosen(game: GameView): string {
  const others = game.roles.filter((role) => role !== game.your_role);
  const isLast = game.to_act.length === 1 && game.to_act[0] === game.your_role;
  return isLast ? others.map((role) => ` ${playerOf(game, role)} has chosen.`).join("") : "";
}

/** Returns what a role does in a simultaneous round: its choice in words, or whether it has chosen. */
function captionOf<Choice>(game: GameView, role: string, { choices, isOpen }: Round<Choice>): string {
  const choice = choices[role] ?? null;
  if (choice !== null) return capitalized(String(choice));
  if (!isOpen || game.status !== "active") return "";
  return game.to_act.includes(role) ? "choosing…" : "has chosen";
}

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
const Hidden = ({ isReady }: { readonly isReady: boolean }): JSX.Element => (
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
