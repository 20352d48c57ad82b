import { z } from "zod";
import { sha256Hex } from "../lib/hash.ts";
import { err, invariant, ok } from "../lib/result.ts";
import type { Game, Role, RoundSummary, Viewer } from "./game.ts";

const ROLES = ["player_1", "player_2"] as const;
type Seat = (typeof ROLES)[number];

/** The cards from the lowest to the highest. */
const DECK = ["jack", "queen", "king"] as const;
export type KuhnCard = (typeof DECK)[number];
type Cards = Readonly<Record<Seat, KuhnCard>>;
type Scores = Readonly<Record<Seat, number>>;

const ACTIONS = ["check", "bet", "call", "fold"] as const;
export type KuhnAction = (typeof ACTIONS)[number];

/** A closed hand as every viewer sees it. */
interface KuhnHand {
  readonly hand: number;
  /** The role that acted first. */
  readonly first: Seat;
  readonly actions: readonly KuhnAction[];
  readonly winner: Seat;
  /** The chips that the winner has won from the other role. */
  readonly chips: 1 | 2;
  /** The cards; null after a fold, in which case they are never shown. */
  readonly cards: Cards | null;
}

export interface KuhnView {
  readonly hands: number;
  readonly hand: number;
  /** The role that acts first in this hand. */
  readonly first: Seat;
  /** The role to act; null when the game is over. */
  readonly turn: Seat | null;
  /** The cards of the open hand; null if the viewer may not see them, and when the game is over. */
  readonly cards: Readonly<Record<Seat, KuhnCard | null>>;
  /** The actions of the open hand in order. */
  readonly actions: readonly KuhnAction[];
  /** The chips won minus the chips lost. */
  readonly scores: Scores;
  readonly previous_hands: readonly KuhnHand[];
}

export interface KuhnState extends KuhnView {
  /** No view contains it, because it determines the next cards. */
  readonly seed: string;
}

const MAX_HANDS = 100;
const Options = z.strictObject({
  /** With an even number both roles act first equally often. */
  hands: z.int().min(1).max(MAX_HANDS).default(10),
});
type KuhnOptions = z.infer<typeof Options>;

const NO_CARDS: KuhnView["cards"] = { player_1: null, player_2: null };
const isSeat = (role: Role): role is Seat => role === "player_1" || role === "player_2";
const otherThan = (seat: Seat): Seat => (seat === "player_1" ? "player_2" : "player_1");

const HOW_TO_PLAY =
  "There are three cards: jack, queen and king. In each hand both players pay one chip and get one card that only they see. In turn you check or bet one chip; after a bet you call with one chip, or fold and lose the hand. If no player folds, the higher card wins the pot. The player with more chips after the last hand wins.";
const RULES = `Kuhn poker. There are three cards, J, Q and K. Each player gets one card and pays one chip. In its turn a player checks or bets one chip; after a bet the
other player calls or folds. In a showdown the higher card wins the pot. After the last hand (option hands) the higher score wins.
An action is "check", "bet", "call" or "fold".`;

/**
 * Kuhn poker (H. W. Kuhn, "A simplified two-person poker", 1950): three cards, one for each player, an ante of 1 and
 * one bet of 1. Several hands are played, and the role that acts first alternates. The seed is published after the
 * match, as in every game. The folded cards can then be computed from the seed, but not from a view.
 */
export const kuhnPoker: Game<KuhnOptions, KuhnState, KuhnAction, KuhnView, Seat> = {
  id: "kuhn_poker.v1",
  roles: ROLES,
  // The longest hand is check, bet, call.
  info: {
    name: "Kuhn poker",
    rules: RULES,
    howToPlay: HOW_TO_PLAY,
    options: { hands: `1 to ${MAX_HANDS}: the number of hands, preferably even; default: 10` },
    simultaneous: false,
    hiddenInformation: true,
    maxActions: 3 * MAX_HANDS,
    history: ["previous_hands"],
    board: "cards",
  },
  options: Options,
  action: z.enum(ACTIONS, "choose check, bet, call or fold"),
  initialState: ({ options: { hands }, seed }) => ({
    hands,
    ...beginHand(seed, 1),
    scores: { player_1: 0, player_2: 0 },
    previous_hands: [],
    seed,
  }),
  toAct: (state) => (state.turn === null ? [] : [state.turn]),
  legalActions: (state, role) => (role === state.turn ? legalAfter(state.actions) : []),
  applyAction(state, role, action) {
    if (!isSeat(role)) return err({ message: "no such role" });
    if (state.turn === null) return err({ message: "the game is over" });
    if (role !== state.turn) return err({ message: `it is ${state.turn}'s turn` });
    const legal = legalAfter(state.actions);
    if (!legal.includes(action)) return err({ message: `choose ${legal.join(" or ")}` });
    const actions = [...state.actions, action];
    const isClosed = action === "call" || action === "fold" || (action === "check" && actions.length === 2);
    return ok(isClosed ? closeHand(state, actions, role) : { ...state, turn: otherThan(role), actions });
  },
  isTerminal: (state) => state.turn === null,
  outcome: ({ turn, scores }) =>
    turn === null ? { scores, reason: scores.player_1 === scores.player_2 ? "draw" : "chips_won" } : null,
  viewState({ seed: _, ...known }, viewer) {
    return { ...known, cards: visible(known.cards, viewer) };
  },
  // viewState returns a view of the same viewer unchanged.
  toText: (state, viewer) => textOf(kuhnPoker.viewState(state as KuhnState, viewer)),
  rounds: summaries,
};

const legalAfter = (actions: readonly KuhnAction[]): readonly KuhnAction[] =>
  actions.at(-1) === "bet" ? ["call", "fold"] : ["check", "bet"];

/** Returns the fields of a state at the beginning of a hand. */
function beginHand(seed: string, hand: number): Pick<KuhnState, "hand" | "first" | "turn" | "cards" | "actions"> {
  const first = ROLES[(hand - 1) % 2] as Seat;
  return { hand, first, turn: first, cards: dealtCards(seed, hand), actions: [] };
}

const DEALS = DECK.flatMap((player_1) =>
  DECK.filter((card) => card !== player_1).map((player_2): Cards => ({ player_1, player_2 })),
);

/**
 * Returns the cards of a hand. All six deals are equally likely. The deal depends only on the seed and the hand, so it
 * can be verified with the seed: the index in the list jack queen, jack king, queen jack, queen king, king jack, king
 * queen (player_1's card first) is the first 8 hex digits of SHA-256 over "<seed>/hand/<hand>/<attempt>", modulo 6.
 * Attempts count from 0 until the value is below 4294967292, the greatest multiple of six, so that no deal is more
 * likely than another.
 */
export function dealtCards(seed: string, hand: number): Cards {
  for (let attempt = 0; ; attempt++) {
    const value = Number.parseInt(sha256Hex(`${seed}/hand/${hand}/${attempt}`).slice(0, 8), 16);
    if (value < 4_294_967_292) return DEALS[value % 6] as Cards;
  }
}

/**
 * Closes a hand, which leads to the next hand or to the end. Folded cards are removed here, so they are never shown.
 */
function closeHand(state: KuhnState, actions: readonly KuhnAction[], last: Seat): KuhnState {
  const { hand, first, hands, seed } = state;
  const cards = actions.at(-1) === "fold" ? null : bothCards(state.cards);
  const winner = cards ? higher(cards) : otherThan(last);
  const chips = actions.at(-1) === "call" ? 2 : 1;
  const previous_hands = [...state.previous_hands, { hand, first, actions, winner, chips, cards } as const];
  const scores = withChips(state.scores, winner, chips);
  if (hand < hands) return { hands, ...beginHand(seed, hand + 1), scores, previous_hands, seed };
  return { ...state, turn: null, cards: NO_CARDS, actions: [], scores, previous_hands };
}

function bothCards({ player_1, player_2 }: KuhnView["cards"]): Cards {
  invariant(player_1 !== null && player_2 !== null, "an open hand has both cards");
  return { player_1, player_2 };
}

const higher = ({ player_1, player_2 }: Cards): Seat =>
  DECK.indexOf(player_1) > DECK.indexOf(player_2) ? "player_1" : "player_2";

const withChips = (scores: Scores, winner: Seat, chips: number): Scores => ({
  player_1: scores.player_1 + (winner === "player_1" ? chips : -chips),
  player_2: scores.player_2 + (winner === "player_2" ? chips : -chips),
});

function summaries({ previous_hands }: KuhnState, from = 0): readonly RoundSummary[] {
  const found: RoundSummary[] = [];
  let scores: Scores = { player_1: 0, player_2: 0 };
  for (const [index, { hand, first, actions, winner, chips, cards }] of previous_hands.entries()) {
    scores = withChips(scores, winner, chips);
    if (index < from) continue;
    const firstActions = actions.filter((_, turn) => turn % 2 === 0);
    const otherActions = actions.filter((_, turn) => turn % 2 === 1);
    const moves = { [first]: firstActions, [otherThan(first)]: otherActions };
    found.push({ round: hand, moves, winner, scores, facts: { first, chips, cards } });
  }
  return found;
}

const visible = (cards: KuhnView["cards"], viewer: Viewer): KuhnView["cards"] => ({
  player_1: viewer === "player_1" ? cards.player_1 : null,
  player_2: viewer === "player_2" ? cards.player_2 : null,
});

function textOf(view: KuhnView): string {
  const lines = view.previous_hands.map(({ hand, first, actions, winner, chips, cards }) => {
    const showdown = cards && ` with the ${cards[winner]} against the ${cards[otherThan(winner)]}`;
    return `Hand ${hand}: ${actionsText(first, actions)}: ${winner} wins ${chips}${showdown ?? ""}`;
  });
  const score = `Chips won: player_1 ${view.scores.player_1}, player_2 ${view.scores.player_2}`;
  if (view.turn === null) return [...lines, `${score}. The game is over.`].join("\n");
  const cards = ROLES.flatMap((seat) => (view.cards[seat] === null ? [] : [`${seat} holds the ${view.cards[seat]}.`]));
  const played = view.actions.length > 0 ? `${actionsText(view.first, view.actions)}; ` : "";
  const prompt = `Hand ${view.hand} of ${view.hands}: ${played}${view.turn} to act: ${legalAfter(view.actions).join(" or ")}.`;
  return [...lines, score, prompt, ...cards].join("\n");
}

const actionsText = (first: Seat, actions: readonly KuhnAction[]): string =>
  actions.map((action, turn) => `${turn % 2 === 0 ? first : otherThan(first)} ${action}`).join(", ");
