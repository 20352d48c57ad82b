import type { JSX } from "preact";
import type { RpsAction, RpsView } from "../../games/rps.ts";
import { ActionButtons, capitalized } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";
import {
  Hand,
  haveChosen,
  playerOf,
  type Round,
  RoundsTable,
  rolesFrom,
  roundToShow,
  SeatsWithChoices,
  withVerb,
} from "./rounds.tsx";

type Closed = Omit<Round<RpsAction>, "isOpen">;

/** The board `hands`: rock, paper, scissors. */
export function HandsBoard(props: BoardProps): JSX.Element {
  const { game, side, pending } = props;
  const view = game.state as RpsView;
  const roles = rolesFrom(game, side);
  const closed = closedRounds(props);
  const { round = 1, best_of = 1 } = view.series ?? {};
  const shown = roundToShow({ game, pending, round, choices: view.choices, closed });
  // A game that ends by a forfeit has a round that is neither open nor closed.
  const ended = shown.isOpen ? undefined : closed.find((one) => one.round === shown.round);
  const scores: Readonly<Record<string, number>> | undefined = view.series?.scores;
  return (
    <div class="duel hands">
      <p class="round-number">{best_of > 1 ? `Round ${round} of at most ${best_of}` : "One round"}</p>
      <SeatsWithChoices
        {...{ game, roles }}
        round={shown}
        wonBy={(role) => scores && (scores[role] ?? 0)}
        drawingOf={(choice, role) => <Hand choice={choice} isMirrored={role === roles.at(-1)} />}
        namesChoices
      />
      <p class="round-text" aria-live="polite">
        {ended && endOfRound(props, ended)}
        {haveChosen(game)}
      </p>
      <ActionButtons
        {...props}
        label="Choose rock, paper or scissors"
        className="large"
        contentOf={(action) => (
          <>
            <Hand choice={action as RpsAction} />
            {capitalized(String(action))}
          </>
        )}
      />
      {best_of > 1 && (
        <RoundsTable
          title="Rounds"
          columns={["Round", ...roles.map((role) => playerOf(game, role)), "Winner"]}
          rows={closed.map(({ round, choices, winner }) => [
            round,
            ...roles.map((role) => (
              <span key={role} class={winner === role ? "won" : ""}>
                <Hand choice={choices[role] ?? "rock"} /> {choices[role]}
              </span>
            )),
            <bdi key="winner">{winner === null ? "draw" : playerOf(game, winner)}</bdi>,
          ])}
        />
      )}
    </div>
  );
}

/** Returns the closed rounds. A game of one round has no list of them. */
function closedRounds({ game }: BoardProps): readonly Closed[] {
  const { series, choices } = game.state as RpsView;
  if (series) return series.previous_rounds;
  const isClosed = Object.values(choices).every((choice) => choice !== null);
  return isClosed ? [{ round: 1, choices, winner: game.result?.winner ?? null }] : [];
}

/** Returns how a round ended: "Round 2: Ann wins with paper". */
function endOfRound({ game }: BoardProps, { round, choices, winner }: Closed): string {
  if (winner === null) return `Round ${round}: ${Object.values(choices)[0]} on both sides, a draw.`;
  return `Round ${round}: ${withVerb(game, winner, "win")} with ${choices[winner]}.`;
}
