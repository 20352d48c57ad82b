import { z } from "zod";
import type { Counts } from "#shared/statistics/counts.ts";
import { type SprtStatus, sprtStatus } from "#shared/statistics/sprt.ts";
import type { Format, FormatRound, LeagueView } from "./format.ts";
import { nextOfSeries, type Pair } from "./pair-series.ts";
import { activePlayers, matchesOf, openMatches } from "./view.ts";

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
export type SprtFormatOptions = z.infer<typeof Options>;

/** The player under test is the first seed. All others are its opponents: usually one. */
const underTest = (view: LeagueView): string | undefined => view.players[0]?.playerId;

function pairsOf(view: LeagueView): readonly Pair[] {
  const first = underTest(view);
  const players = activePlayers(view);
  if (first === undefined || !players.includes(first)) return [];
  return players.filter((player) => player !== first).map((player): Pair => [first, player]);
}

/** The points of a player in a round of two matches: 0 to 4 half points; null if a match is open, aborted or annulled. A double forfeit does not count. */
function halfPoints({ matches }: FormatRound, player: string): number | null {
  if (matches.length !== 2) return null;
  let sum = 0;
  for (const { players, outcome } of matches) {
    if (outcome === null || !outcome.points.some((points) => points > 0)) return null;
    const points = outcome.points[players.indexOf(player)];
    sum += points === 3 ? 2 : points === 1 ? 1 : 0;
  }
  return sum;
}

/** How often the player under test has 0, ½, 1, 1½ and 2 points in a pair of matches with swapped roles. Pairs with an open match are not counted. */
export function pairCounts(view: LeagueView): Counts {
  const counts: [number, number, number, number, number] = [0, 0, 0, 0, 0];
  const first = underTest(view) ?? "";
  for (const round of view.rounds) {
    const points = halfPoints(round, first);
    if (points !== null) counts[points] = (counts[points] as number) + 1;
  }
  return counts;
}

/** The state of the test after the completed pairs of matches. */
export const sprtOf = (view: LeagueView, options: SprtFormatOptions): SprtStatus =>
  sprtStatus(pairCounts(view), options);

const unpairedMatches = (view: LeagueView, { max_games }: SprtFormatOptions): number =>
  Math.max(0, max_games - matchesOf(view).length);

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
    const next = nextOfSeries(view, pairsOf(view), { limit: unpairedMatches(view, options) }, slots);
    // The last matches may still decide the test.
    return next === "completed" && openMatches(view) > 0 && pairsOf(view).length > 0 ? "wait" : next;
  },

  remaining(view, options) {
    const isDecided = sprtOf(view, options).state !== "continue" || pairsOf(view).length === 0;
    return openMatches(view) + (isDecided ? 0 : unpairedMatches(view, options));
  },
};
