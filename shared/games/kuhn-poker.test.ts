import { describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { create, decide, type Session } from "#shared/session/session.ts";
import { verdictOf } from "../session/verdict.ts";
import { applyLegal } from "./contract/obligation.ts";
import { dealtCards, type KuhnAction, type KuhnCard, type KuhnState, kuhnPoker } from "./kuhn-poker.ts";

type Seat = "player_1" | "player_2";
const SEATS = ["player_1", "player_2"] as const;

const otherThan = (seat: Seat): Seat => (seat === "player_1" ? "player_2" : "player_1");

const begin = (hands: number, seed = "seed"): KuhnState =>
  kuhnPoker.initialState({ options: kuhnPoker.options.parse({ hands }), seed });

const act = (state: KuhnState, action: string): KuhnState =>
  applyLegal(kuhnPoker, state, state.turn ?? "", action) as KuhnState;

/** Plays hands, each given as a line of actions: "check bet call". */
const play = (state: KuhnState, ...lines: readonly string[]): KuhnState =>
  lines.flatMap((line) => line.split(" ").filter(Boolean)).reduce(act, state);

/**
 * Returns a seed that deals these cards in a hand: the first to the role that acts first, the second to the other role.
 */
function seedFor(hand: number, firstCard: KuhnCard, otherCard: KuhnCard): string {
  for (let n = 0; n < 1_000; n++) {
    const { player_1, player_2 } = dealtCards(`seed ${n}`, hand);
    const [first, other] = hand % 2 === 1 ? [player_1, player_2] : [player_2, player_1];
    if (first === firstCard && other === otherCard) return `seed ${n}`;
  }
  throw new Error(`no seed deals ${firstCard} and ${otherCard}`);
}

const DEALS = [
  ["jack", "queen"],
  ["jack", "king"],
  ["queen", "jack"],
  ["queen", "king"],
  ["king", "jack"],
  ["king", "queen"],
] as const;

/** The chips that the role that acts first wins, by the line of actions and for each of the DEALS. */
const PAYOFFS = [
  ["check check", [-1, -1, +1, -1, +1, +1]],
  ["check bet fold", [-1, -1, -1, -1, -1, -1]],
  ["check bet call", [-2, -2, +2, -2, +2, +2]],
  ["bet fold", [+1, +1, +1, +1, +1, +1]],
  ["bet call", [-2, -2, +2, -2, +2, +2]],
] as const;

const cases = PAYOFFS.flatMap(([line, payoffs]) =>
  DEALS.map(([first, other], index) => [line, first, other, payoffs[index] as number] as const),
);

describe("kuhn_poker.v1, one hand", () => {
  it.each(cases)(
    "Kuhn 1950: after %s, with %s against %s, the role that acts first wins %i",
    (line, firstCard, otherCard, payoff) => {
      for (const hand of [1, 2]) {
        const first = SEATS[hand - 1] as Seat;
        const before =
          hand === 1
            ? begin(1, seedFor(1, firstCard, otherCard))
            : play(begin(2, seedFor(2, firstCard, otherCard)), "bet fold");
        const state = play(before, line);
        const winner = payoff > 0 ? first : otherThan(first);
        const cards = line.endsWith("fold") ? null : { [first]: firstCard, [otherThan(first)]: otherCard };
        expect(state.previous_hands.at(-1)).toEqual({
          hand,
          first,
          actions: line.split(" "),
          winner,
          cards,
          chips: Math.abs(payoff),
        });
        expect(state.scores[first] - before.scores[first]).toBe(payoff);
        expect(state.scores.player_1 + state.scores.player_2).toBe(0);
        expect(kuhnPoker.outcome(state)?.scores).toEqual(state.scores);
      }
    },
  );

  it.each([
    ["", "player_1", ["check", "bet"]],
    ["check", "player_2", ["check", "bet"]],
    ["bet", "player_2", ["call", "fold"]],
    ["check bet", "player_1", ["call", "fold"]],
  ] as const)("Kuhn 1950: after %j %s may %j", (line, role, legal) => {
    const state = play(begin(1), line);
    expect(kuhnPoker.toAct(state)).toEqual([role]);
    expect(kuhnPoker.legalActions(state, role)).toEqual(legal);
    expect(kuhnPoker.legalActions(state, otherThan(role))).toEqual([]);
    for (const action of ["check", "bet", "call", "fold"] as const) {
      const isLegal = legal.some((legalAction) => legalAction === action);
      expect(kuhnPoker.applyAction(state, role, action).ok).toBe(isLegal);
      expect(kuhnPoker.applyAction(state, otherThan(role), action).ok).toBe(false);
    }
  });

  it.each([
    ["an action in the other role's turn", "", "player_2", "check", "it is player_1's turn"],
    ["a spectator", "", "spectator", "check", "no such role"],
    ["a call without a bet", "", "player_1", "call", "choose check or bet"],
    ["a fold after a check", "check", "player_2", "fold", "choose check or bet"],
    ["a raise", "bet", "player_2", "bet", "choose call or fold"],
    ["a check after a bet", "check bet", "player_1", "check", "choose call or fold"],
    ["null", "", "player_1", null, "choose check or bet"],
    ["a list", "", "player_1", ["check"], "choose check or bet"],
    ["after the end", "check check", "player_1", "check", "the game is over"],
  ])("%s is rejected", (_name, line, role, action, message) => {
    const state = play(begin(1), line);
    expect(kuhnPoker.applyAction(state, role, action as KuhnAction)).toEqual({ ok: false, error: { message } });
  });
});

describe("kuhn_poker.v1, many hands", () => {
  it("the role that acts first alternates, and the longest game has maxActions actions", () => {
    const state = play(begin(100), ...Array.from({ length: 100 }, () => "check bet call"));
    const first = state.previous_hands.map((hand) => hand.first);
    expect(first).toEqual(first.map((_, index) => SEATS[index % 2]));
    expect([kuhnPoker.isTerminal(state), 3 * first.length]).toEqual([true, kuhnPoker.info.maxActions]);
  });

  it("the cards of every hand are determined by the seed and the hand", () => {
    const state = play(begin(20), ...Array.from({ length: 20 }, () => "check check"));
    expect(state.previous_hands.map(({ cards }) => cards)).toEqual(
      Array.from({ length: 20 }, (_, index) => dealtCards("seed", index + 1)),
    );
  });

  it("the role with more chips wins, and equal chips are a draw", () => {
    const won = play(begin(3), "bet fold", "check bet fold", "bet fold");
    expect(kuhnPoker.outcome(won)).toEqual({ scores: { player_1: 3, player_2: -3 }, reason: "chips_won" });
    const drawn = play(begin(2), "bet fold", "bet fold");
    expect(kuhnPoker.outcome(drawn)).toEqual({ scores: { player_1: 0, player_2: 0 }, reason: "draw" });
  });

  it("reports each hand after it has closed, with the chips so far", () => {
    const seed = seedFor(2, "queen", "king");
    const rounds = kuhnPoker.rounds?.(play(begin(3, seed), "check bet fold", "bet call", "check")) ?? [];
    expect(rounds).toEqual([
      {
        round: 1,
        moves: { player_1: ["check", "fold"], player_2: ["bet"] },
        winner: "player_2",
        scores: { player_1: -1, player_2: 1 },
        facts: { first: "player_1", chips: 1, cards: null },
      },
      {
        round: 2,
        moves: { player_1: ["call"], player_2: ["bet"] },
        winner: "player_1",
        scores: { player_1: 1, player_2: -1 },
        facts: { first: "player_2", chips: 2, cards: { player_1: "king", player_2: "queen" } },
      },
    ]);
    expect(kuhnPoker.rounds?.(play(begin(3, seed), "check bet fold", "bet call"), 1)).toEqual(rounds.slice(1));
  });

  it("hands is a whole number from 1 to 100, 10 by default", () => {
    expect(kuhnPoker.options.parse({})).toEqual({ hands: 10 });
    for (const hands of [0, 101, 1.5, "3", null]) expect(kuhnPoker.options.safeParse({ hands }).success).toBe(false);
    for (const wrong of ["raise", "CHECK", "", 1, null, ["check"], { action: "check" }]) {
      expect(kuhnPoker.action.safeParse(wrong).success).toBe(false);
    }
  });
});

describe("kuhn_poker.v1, the verdict with negative scores", () => {
  function sessionAfter(hands: number, ...actions: readonly string[]): Session {
    const participants = { player_1: "P01", player_2: "P02" };
    const options = kuhnPoker.options.parse({ hands });
    let { next } = create({ id: "s", game: kuhnPoker as never, options, participants, seed: "seed", at: "" });
    for (const action of actions) {
      const role = (next.state as KuhnState).turn ?? "";
      const decision = decide(next, { type: "act", role, action, expectedTick: next.tick }, "");
      if (decision.ok) next = decision.value.next;
    }
    return next;
  }

  it("gives the points to the role with more chips, and one point each for equal chips", () => {
    expect(verdictOf(sessionAfter(1, "check", "bet", "fold"))).toMatchObject({
      winner: "player_2",
      scores: { player_1: -1, player_2: 1 },
      points: { player_1: 0, player_2: 3 },
    });
    expect(verdictOf(sessionAfter(2, "bet", "fold", "bet", "fold"))).toMatchObject({
      winner: null,
      scores: { player_1: 0, player_2: 0 },
      points: { player_1: 1, player_2: 1 },
    });
  });

  it("keeps the chips of the closed hands after a forfeit", () => {
    const session = sessionAfter(3, "bet", "fold", "bet");
    const faults = [{ role: "player_1", code: "G002", cause: "timeout", detail: "" }] as const;
    const ended = decide(session, { type: "forfeit", faults }, "");
    expect(ended.ok && verdictOf(ended.value.next)).toMatchObject({
      winner: "player_2",
      scores: { player_1: 1, player_2: -1 },
      points: { player_1: 0, player_2: 3 },
    });
  });
});

describe("kuhn_poker.v1, the deal", () => {
  const dealOf = ({ player_1, player_2 }: Readonly<Record<Seat, KuhnCard>>): string => `${player_1} ${player_2}`;
  const names = DEALS.map((deal) => deal.join(" "));

  /**
   * Returns Pearson's chi-square against equal counts. With 5 degrees of freedom it exceeds 20.5 once in a thousand
   * cases.
   */
  function chiSquare(deals: readonly string[]): number {
    const expected = deals.length / names.length;
    const counts = names.map((name) => deals.filter((deal) => deal === name).length);
    return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  }

  it("is one of six equally likely deals, over seeds and over hands", () => {
    const bySeed = Array.from({ length: 6_000 }, (_, n) => dealOf(dealtCards(`seed ${n}`, 1)));
    const byHand = Array.from({ length: 6_000 }, (_, n) => dealOf(dealtCards("seed", n + 1)));
    for (const deals of [bySeed, byHand]) {
      expect([...new Set(deals)].sort()).toEqual([...names].sort());
      expect(chiSquare(deals)).toBeLessThan(20.5);
    }
  });

  it("is independent of the next deal", () => {
    const pairs = Array.from({ length: 6_000 }, (_, n) => [1, 2].map((hand) => dealOf(dealtCards(`seed ${n}`, hand))));
    for (const name of names) {
      const following = pairs.filter(([deal]) => deal === name).map(([, next]) => next ?? "");
      expect(chiSquare(following)).toBeLessThan(20.5);
    }
  });

  it("can be computed from the seed by hand", () => {
    for (const hand of [1, 2, 3, 4, 5]) {
      const digits = sha256Hex(`seed/hand/${hand}/0`).slice(0, 8);
      expect(dealOf(dealtCards("seed", hand))).toBe(names[Number(`0x${digits}`) % 6]);
    }
  });
});
