import { z } from "zod";
import { BRACKET_OPTIONS, eliminationRules } from "./elimination.ts";
import type { Format } from "./format.ts";
import { singleEliminationPlan } from "./pairing/bracket-plan.ts";

const SingleEliminationOptions = z.strictObject({
  ...BRACKET_OPTIONS,
  third_place: z.boolean().default(false).describe("Whether the losers of the semi-finals play for the third place."),
});
type SingleEliminationOptions = z.infer<typeof SingleEliminationOptions>;

export const singleElimination: Format<SingleEliminationOptions> = {
  id: "single-elimination",
  name: "Single elimination",
  description: "The winner of each pairing goes on to the next round; the last one wins the league.",
  options: SingleEliminationOptions,
  switches: { third_place: { on: "with a match for the third place", off: "" } },
  ...eliminationRules((playerCount, options: SingleEliminationOptions) =>
    singleEliminationPlan(playerCount, options.third_place),
  ),
};
