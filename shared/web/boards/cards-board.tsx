import type { JSX } from "preact";
import { counted } from "../../lib/text.ts";
import { ActionButtons, capitalized } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";
import { type Card, Chips, PlayingCard, playerOf, RoundsTable, rolesFrom, Seat, withVerb } from "./rounds.tsx";

type Action = "check" | "bet" | "call" | "fold";

interface Hand {
  readonly hand: number;
  /** The role that acted first. The roles act in turn. */
  readonly first: string;
  readonly actions: readonly Action[];
}

interface ClosedHand extends Hand {
  readonly winner: string;
  /** The chips that the winner has won from the other role. */
  readonly chips: number;
  /** The cards; null if they are never shown. */
  readonly cards: Readonly<Record<string, Card>> | null;
}

/** The fields of a view that the board needs. */
interface CardsView extends Hand {
  readonly hands: number;
  /** The cards of the open hand; null for a card that the viewer may not see. */
  readonly cards: Readonly<Record<string, Card | null>>;
  readonly scores: Readonly<Record<string, number>>;
  readonly previous_hands: readonly ClosedHand[];
}

/** The hand that the board shows. `winner` is null in an open hand. */
interface Shown extends Hand, Pick<CardsView, "cards"> {
  readonly winner: string | null;
}

/** The board `cards`: Kuhn poker. */
export function CardsBoard(props: BoardProps): JSX.Element {
  const { game, side, pending } = props;
  const view = game.state as CardsView;
  const roles = rolesFrom(game, side);
  const shown = handToShow(props);
  const pot = roles.length + shown.actions.filter((action) => action === "bet" || action === "call").length;
  const last = view.previous_hands.at(-1);
  const ownCards = ownCardsIn(props);
  return (
    <div class="duel cards">
      <p class="round-number">{`Hand ${shown.hand} of ${view.hands}`}</p>
      <div class="seats felt">
        {roles.map((role) => (
          <Seat
            key={role}
            game={game}
            role={role}
            score={chipsInWords(view.scores[role] ?? 0)}
            isWinner={shown.winner === role}
            caption={captionOf(props, shown, role)}
          >
            <PlayingCard card={shown.cards[role] ?? null} />
          </Seat>
        ))}
        <p class="pot">
          <Chips count={pot} />
          {`Pot: ${counted(pot, "chip")}`}
        </p>
      </div>
      <p class="round-text" aria-live="polite">
        {last && endOfHand(props, last)}
      </p>
      <ActionButtons
        {...props}
        label="Your move"
        className="large"
        contentOf={(action) => capitalized(String(pending === action ? `${action}…` : action))}
      />
      <RoundsTable
        title="Hands"
        columns={["Hand", ...roles.map((role) => playerOf(game, role)), "Moves", "Winner"]}
        rows={view.previous_hands.map((hand) => [
          hand.hand,
          ...roles.map(
            (role) => hand.cards?.[role] ?? (role === game.your_role ? ownCards.get(hand.hand) : undefined) ?? "–",
          ),
          hand.actions.join(", "),
          <span key="winner">
            <bdi>{playerOf(game, hand.winner)}</bdi> +{hand.chips}
          </span>,
        ])}
      />
    </div>
  );
}

/**
 * Returns the hand to show: the open one; the last closed one if the game is over, and for a spectator, who sees no card
 * of the open hand, until its first action.
 */
function handToShow({ game }: BoardProps): Shown {
  const { hand, first, actions, cards, previous_hands } = game.state as CardsView;
  const last = previous_hands.at(-1);
  const isEmpty = actions.length === 0 && Object.values(cards).every((card) => card === null);
  if (last && (game.status === "completed" || isEmpty)) return { ...last, cards: last.cards ?? {} };
  return { hand, first, actions, cards, winner: null };
}

const VERBS: Readonly<Record<Action, string>> = { check: "checks", bet: "bets 1", call: "calls 1", fold: "folds" };

/** Returns the card and the actions of a role in a hand: "king · checks, calls 1". */
function captionOf({ game }: BoardProps, { actions, first, cards, winner }: Shown, role: string): string {
  const own = actions.filter((_, turn) => (turn % 2 === 0) === (role === first)).map((action) => VERBS[action]);
  const isToAct = winner === null && game.status === "active" && game.to_act.includes(role);
  const moves = own.length > 0 ? own.join(", ") : isToAct ? "to act" : "";
  return [capitalized(cards[role] ?? (winner === null ? "hidden card" : "not shown")), moves]
    .filter(Boolean)
    .join(" · ");
}

/** Returns the viewer's card of each hand, as far as the page knows it. A view does not contain it after a fold. */
function ownCardsIn({ game, history }: BoardProps): ReadonlyMap<number, Card> {
  const positions = history ? [history.start, ...history.moves.map(({ after }) => after)] : [];
  const views = positions.flatMap((position) => (position?.state as CardsView | null | undefined) ?? []);
  return new Map(
    views.flatMap(({ hand, cards }) => {
      const card = cards[game.your_role];
      return card ? [[hand, card] as const] : [];
    }),
  );
}

/** Returns a number of chips with its sign. */
const chipsInWords = (chips: number): string => {
  const sign = chips > 0 ? "+" : chips < 0 ? "−" : "";
  return `${sign}${counted(Math.abs(chips), "chip")}`;
};

/** Returns how a hand ended: "Hand 3: Ann wins 2 chips with the king against the queen". */
function endOfHand({ game }: BoardProps, { hand, winner, chips, cards }: ClosedHand): string {
  const loser = game.roles.find((role) => role !== winner) ?? "";
  const won = `${withVerb(game, winner, "win")} ${counted(chips, "chip")}`;
  if (!cards) return `Hand ${hand}: ${won}, because ${withVerb(game, loser, "fold")}`;
  return `Hand ${hand}: ${won} with the ${cards[winner]} against ${loser === game.your_role ? "your" : "the"} ${cards[loser]}`;
}
