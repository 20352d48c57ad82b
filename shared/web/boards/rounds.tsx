import type { ComponentChildren, JSX } from "preact";
import { spoken } from "../../games/game.ts";
import { escapeUnprintable } from "../../lib/text.ts";
import { type GameView, GUEST, nameInWords } from "../game-view.ts";
import { capitalized } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";
import { Hidden } from "./drawings.tsx";

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
