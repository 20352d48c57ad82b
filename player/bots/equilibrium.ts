import type { KuhnCard } from "#shared/games/kuhn-poker.ts";
import type { Bot } from "../sdk.ts";

/** The probability of a bluff of the first player: a bet with a jack. Each value from 0 to 1/3 is an equilibrium. */
const BLUFF = 1 / 3;

/**
 * The probabilities of a bet, or of a call after a bet, in the equilibria of Kuhn poker (H. W. Kuhn, "A simplified two-person poker", 1950).
 * The first player loses 1/18 of a chip in a hand on average, and the second one wins it.
 */
const BETS: Readonly<Record<"first" | "second", Readonly<Record<KuhnCard, number>>>> = {
  first: { jack: BLUFF, queen: 0, king: 3 * BLUFF },
  second: { jack: 1 / 3, queen: 0, king: 1 },
};
const CALLS: typeof BETS = {
  first: { jack: 0, queen: BLUFF + 1 / 3, king: 1 },
  second: { jack: 0, queen: 1 / 3, king: 1 },
};

/** Plays Kuhn poker by an equilibrium: no opponent wins against it on average over both positions. */
export default (({ view, role, random }) => {
  const position = view.first === role ? "first" : "second";
  const card = view.cards[role as keyof typeof view.cards] as KuhnCard;
  const isAfterBet = view.actions.at(-1) === "bet";
  const isBold = random.next() < (isAfterBet ? CALLS : BETS)[position][card];
  if (isAfterBet) return isBold ? "call" : "fold";
  return isBold ? "bet" : "check";
}) satisfies Bot<"kuhn_poker.v1">;
