import type { JSX } from "preact";
import { ActionButtons, capitalized } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";
import {
  haveChosen,
  playerOf,
  RoundsTable,
  rolesFrom,
  roundToShow,
  SeatsWithChoices,
  titleOf,
  withVerb,
} from "./rounds.tsx";

/** A number, or the guess of a parity. */
type Choice = number | "even" | "odd";
type Choices = Readonly<Record<string, Choice | null>>;

interface Closed {
  readonly round: number;
  readonly choices: Choices;
  /** The sum of the choices, or the drawn number. */
  readonly number: number;
  readonly winner: string | null;
}

/** The fields of a view that the board needs. */
interface NumbersView {
  readonly round: number;
  readonly max_rounds: number;
  readonly choices: Choices;
  readonly scores: Readonly<Record<string, number>>;
  readonly previous_rounds: readonly Closed[];
}

/** The board `numbers`: even/odd. */
export function NumbersBoard(props: BoardProps): JSX.Element {
  const { game, side, pending } = props;
  const { choices, round, max_rounds, scores, previous_rounds } = game.state as NumbersView;
  const roles = rolesFrom(game, side);
  const shown = roundToShow<Choice>({ game, pending, round, choices, closed: previous_rounds });
  const closed = shown.isOpen ? undefined : previous_rounds.find((one) => one.round === shown.round);
  return (
    <div class="duel numbers">
      <p class="round-number">{max_rounds > 1 ? `Round ${round} of at most ${max_rounds}` : "One round"}</p>
      <SeatsWithChoices
        {...{ game, roles }}
        round={shown}
        wonBy={(role) => scores[role] ?? 0}
        drawingOf={(choice) => <span class="chosen">{choice}</span>}
        namesChoices={false}
      />
      <p class="round-text" aria-live="polite">
        {closed && endOfRound(props, closed, roles)}
        {haveChosen(game)}
      </p>
      <ActionButtons
        {...props}
        label={game.legal_actions.some(Number) ? "Choose a number" : "Choose even or odd"}
        className="large"
        contentOf={(action) => <span class="number">{capitalized(String(action))}</span>}
      />
      {max_rounds > 1 && (
        <RoundsTable
          title="Rounds"
          columns={["Round", ...roles.map((role) => playerOf(game, role)), "Number", "Winner"]}
          rows={previous_rounds.map(({ round, winner, ...one }) => [
            round,
            ...roles.map((role) => (
              <span key={role} class={winner === role ? "won" : ""}>
                {one.choices[role]}
              </span>
            )),
            `${one.number}, ${parityOf(one)}`,
            <bdi key="winner">{winner === null ? "draw" : playerOf(game, winner)}</bdi>,
          ])}
        />
      )}
    </div>
  );
}

const parityOf = ({ number }: Pick<Closed, "number">): string => (number % 2 === 0 ? "even" : "odd");

/** Returns how a round ended: "Round 2: 3 + 4 = 7 is odd, Ann wins (Odd).". */
function endOfRound({ game }: BoardProps, closed: Closed, roles: readonly string[]): string {
  const { round, number, winner } = closed;
  const numbers = roles.map((role) => closed.choices[role]);
  const isSum = numbers.every((choice) => typeof choice === "number");
  const reason = isSum
    ? `${numbers.join(" + ")} = ${number} is ${parityOf(closed)}`
    : `${number} is drawn, which is ${parityOf(closed)}`;
  const end =
    winner === null
      ? "a draw"
      : `${withVerb(game, winner, "win")}${winner === game.your_role ? "" : ` (${titleOf(winner)})`}`;
  return `Round ${round}: ${reason}, ${end}.`;
}
