import { z } from "zod";
import { BRACKET_OPTIONS, eliminationRules } from "./elimination.ts";
import type { Format } from "./format.ts";
import { doubleEliminationPlan } from "./pairing/bracket-plan.ts";

const DoubleEliminationOptions = z.strictObject({
  ...BRACKET_OPTIONS,
  bracket_reset: z
    .boolean()
    .default(true)
    .describe("Whether the grand final has a second match if the player without a loss has lost the first."),
});
type DoubleEliminationOptions = z.infer<typeof DoubleEliminationOptions>;

export const doubleElimination: Format<DoubleEliminationOptions> = {
  id: "double-elimination",
  name: "Double elimination",
  description: "A player is out after its second loss: losers of the winners' rounds go on in the losers' rounds.",
  options: DoubleEliminationOptions,
  switches: { bracket_reset: { on: "", off: "only one match in the grand final" } },
  ...eliminationRules((playerCount, options: DoubleEliminationOptions) =>
    doubleEliminationPlan(playerCount, options.bracket_reset),
  ),
};
