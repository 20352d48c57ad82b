import { z } from "zod";
import { bracketOf, seedsOf } from "./bracket-fold.ts";
import { BRACKET_OPTIONS, nextOfBracket, rankingOfBracket, remainingOfBracket } from "./elimination.ts";
import type { Format, LeagueView } from "./format.ts";
import { doubleEliminationPlan } from "./pairing/bracket-plan.ts";

const Options = z.strictObject({
  ...BRACKET_OPTIONS,
  bracket_reset: z
    .boolean()
    .default(true)
    .describe("Whether the grand final has a second match if the player without a loss has lost the first."),
});
type Options = z.infer<typeof Options>;

const planOf = (view: LeagueView, options: Options) =>
  doubleEliminationPlan(seedsOf(view, options).length, options.bracket_reset);

const bracket = (view: LeagueView, options: Options) => bracketOf(view, planOf(view, options), options);

/** With fewer players than places in the bracket, the best seeds have a bye in the first round. */
export const doubleElimination: Format<Options> = {
  id: "double-elimination",
  name: "Double elimination",
  description: "A player is out after its second loss: losers of the winners' rounds go on in the losers' rounds.",
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
