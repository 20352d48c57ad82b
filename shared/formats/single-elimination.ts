import { z } from "zod";
import { bracketOf, seedsOf } from "./bracket-fold.ts";
import { BRACKET_OPTIONS, nextOfBracket, rankingOfBracket, remainingOfBracket } from "./elimination.ts";
import type { Format, LeagueView } from "./format.ts";
import { singleEliminationPlan } from "./pairing/bracket-plan.ts";

const Options = z.strictObject({
  ...BRACKET_OPTIONS,
  third_place: z.boolean().default(false).describe("Whether the losers of the semi-finals play for the third place."),
});
type Options = z.infer<typeof Options>;

const planOf = (view: LeagueView, options: Options) =>
  singleEliminationPlan(seedsOf(view, options).length, options.third_place);

const bracket = (view: LeagueView, options: Options) => bracketOf(view, planOf(view, options), options);

/** With fewer players than places in the bracket, the best seeds have a bye in the first round. */
export const singleElimination: Format<Options> = {
  id: "single-elimination",
  name: "Single elimination",
  description: "The winner of each pairing goes on to the next round; the last one wins the league.",
  options: Options,
  extendable: [],
  roles: "two",
  opensRounds: "in_order",
  byePoints: 0,
  takesLateEntries: () => false,
  tieBreaks: ["points", "wins"],
  bracket,
  next: (view, _slots, options) => nextOfBracket(view, bracket(view, options), options),
  remaining: (view, options) => remainingOfBracket(view, bracket(view, options), options),
  ranking: (view, options) => rankingOfBracket(view, bracket(view, options), planOf(view, options)),
};
