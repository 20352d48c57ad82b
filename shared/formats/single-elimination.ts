import { z } from "zod";
import { BRACKET_OPTIONS, eliminationRules } from "./elimination.ts";
import type { Format } from "./format.ts";
import { singleEliminationPlan } from "./pairing/bracket-plan.ts";

const Options = z.strictObject({
  ...BRACKET_OPTIONS,
  third_place: z.boolean().default(false).describe("Whether the losers of the semi-finals play for the third place."),
});
type Options = z.infer<typeof Options>;

export const singleElimination: Format<Options> = {
  id: "single-elimination",
  name: "Single elimination",
  description: "The winner of each pairing goes on to the next round; the last one wins the league.",
  options: Options,
  switches: { third_place: { on: "with a match for the third place", off: "" } },
  ...eliminationRules((playerCount, options: Options) => singleEliminationPlan(playerCount, options.third_place)),
};
