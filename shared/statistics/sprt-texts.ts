import type { SprtOptions, SprtStatus } from "./sprt.ts";

/** The log-likelihood ratio of a test and its bounds: `SPRT 1.23 (-2.94, 2.94)`. */
export const sprtText = ({ llr, lower, upper }: Pick<SprtStatus, "llr" | "lower" | "upper">): string =>
  `SPRT ${llr.toFixed(2)} (${lower.toFixed(2)}, ${upper.toFixed(2)})`;

/** The statement of a hypothesis: `Ann is better than Bob`. */
export const hypothesisText = (
  hypothesis: "H0" | "H1",
  options: Pick<SprtOptions, "elo0" | "elo1">,
  first: string,
  second: string,
): string => `${first} ${claimOf(hypothesis, options)} ${second}`;

function claimOf(hypothesis: "H0" | "H1", { elo0, elo1 }: Pick<SprtOptions, "elo0" | "elo1">): string {
  if (hypothesis === "H1") return elo0 >= 0 ? "is better than" : `is not ${-elo0} Elo worse than`;
  return elo1 > 0 ? `is not ${elo1} Elo better than` : "is worse than";
}
