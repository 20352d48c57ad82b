import { z } from "zod";
import { listSummary } from "#shared/lib/list.ts";
import { counted } from "#shared/lib/text.ts";
import { type Counts, countPairs } from "#shared/statistics/counts.ts";
import { hypothesisText, type SprtStatus, sprtStatus, sprtText } from "#shared/statistics/sprt.ts";
import {
  activePlayers,
  type Format,
  type FormatResult,
  type FormatRound,
  type LeagueView,
  matchCount,
  openMatches,
} from "./format.ts";
import { keepPairs, nextOfSeries, pairOf } from "./pair-series.ts";

/** The default of the option `max_games`. */
export const SPRT_MAX_GAMES = 20_000;

const errorRate = z.number().gt(0).lt(0.5).default(0.05);

const Options = z
  .strictObject({
    elo0: z
      .number()
      .default(0)
      .describe("The Elo difference of the null hypothesis H0: the first player is not better than this."),
    elo1: z.number().default(10).describe("The Elo difference of the alternative hypothesis H1. It is more than elo0."),
    alpha: errorRate.describe("The maximum probability that H1 is accepted although H0 is true."),
    beta: errorRate.describe("The maximum probability that H0 is accepted although H1 is true."),
    model: z.enum(["logistic", "normalized"]).default("logistic").describe("The unit of elo0 and elo1."),
    max_games: z
      .int()
      .min(2)
      .max(1_000_000)
      .default(SPRT_MAX_GAMES)
      .describe("The number of matches after which the test ends without a decision."),
  })
  .refine(({ elo0, elo1 }) => elo0 < elo1, { path: ["elo1"], error: "elo1 must be more than elo0" });
type SprtFormatOptions = z.infer<typeof Options>;

/** The player under test is the first seed. All others are its opponents: usually one. */
const underTest = (view: LeagueView): string => view.players[0]?.playerId ?? "";

const pairsOf = keepPairs((view) => {
  const first = underTest(view);
  const players = activePlayers(view);
  if (!players.includes(first)) return [];
  return players.filter((player) => player !== first).map((player) => pairOf(first, player));
});

const NO_PAIRS: Counts = [0, 0, 0, 0, 0];

/** The pairs of matches of each player. */
const pairsByPlayer = listSummary<FormatRound, Map<string, number[]>>({
  empty: () => new Map(),
  add(sum, { matches }, times) {
    for (const player of new Set(matches.flatMap(({ players }) => players))) {
      const tally = { player, pairs: [...NO_PAIRS] };
      countPairs(matches, ({ players }) => (players.includes(player) ? tally : undefined));
      const before = sum.get(player) ?? NO_PAIRS;
      sum.set(
        player,
        tally.pairs.map((count, index) => times * count + (before[index] ?? 0)),
      );
    }
  },
});

/** How often the player under test has 0, ½, 1, 1½ and 2 points in a pair of matches with swapped roles. */
const pairCounts = (view: LeagueView): Counts =>
  (pairsByPlayer(view.rounds).get(underTest(view)) as Counts | undefined) ?? NO_PAIRS;

/** The state of the test after the completed pairs of matches. */
const sprtOf = (view: LeagueView, options: SprtFormatOptions): SprtStatus => sprtStatus(pairCounts(view), options);

/** The digits of the numbers in documents, as in those of `league match`. */
const rounded = (value: number): number => Number(value.toFixed(4));

/** Whether no match follows. */
const hasEnded = (view: LeagueView, options: SprtFormatOptions): boolean =>
  view.isEnded === true || sprt.remaining(view, options) === 0;

function resultOf(view: LeagueView, options: SprtFormatOptions, nameOf: (playerId: string) => string): FormatResult {
  const pairs = pairCounts(view);
  const { state, ...numbers } = sprtStatus(pairs, options);
  const [first = "", ...opponents] = view.players.map(({ playerId }) => nameOf(playerId));
  const hypothesis = hypothesisText(state === "H0" ? "H0" : "H1", options, first, opponents.join(", "));
  const verdict = (): string => {
    if (state !== "continue") return `${state} accepted: ${hypothesis}`;
    return `${hasEnded(view, options) ? "ended without a decision" : "not decided yet"} if ${hypothesis}`;
  };
  const count = pairs.reduce((sum, one) => sum + one, 0);
  return {
    state,
    llr: rounded(numbers.llr),
    lower: rounded(numbers.lower),
    upper: rounded(numbers.upper),
    pairs,
    text: `${verdict()}: ${sprtText(numbers)} after ${counted(count, "pair")} of matches`,
  };
}

const unpairedMatches = (view: LeagueView, { max_games }: SprtFormatOptions): number =>
  Math.max(0, max_games - matchCount(view));

/** Open matches do not delay the end: the league manager cancels them. A player under test that leaves ends the test without a decision. */
export const sprt: Format<SprtFormatOptions> = {
  id: "sprt",
  name: "SPRT",
  description:
    "The first player plays pairs of matches with swapped roles until a sequential test decides if it is better.",
  options: Options,
  extendable: ["max_games"],
  roles: "two",
  opensRounds: "at_once",
  cancelsOpenMatches: true,
  byePoints: 0,
  takesLateEntries: () => false,
  tieBreaks: ["points", "wins", "draws"],

  next(view, slots, options) {
    if (sprtOf(view, options).state !== "continue") return "completed";
    const next = nextOfSeries(view, pairsOf(view, null), { limit: unpairedMatches(view, options) }, slots);
    // The last matches may still decide the test.
    return next === "completed" && openMatches(view) > 0 && pairsOf(view, null).length > 0 ? "wait" : next;
  },

  remaining(view, options) {
    const isDecided = sprtOf(view, options).state !== "continue" || pairsOf(view, null).length === 0;
    return openMatches(view) + (isDecided ? 0 : unpairedMatches(view, options));
  },

  result: resultOf,
};
