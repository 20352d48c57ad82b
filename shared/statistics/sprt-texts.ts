import type { SprtOptions, SprtStatus } from "./sprt.ts";

/** The log-likelihood ratio of a test and its bounds: `SPRT 1.23 (-2.94, 2.94)`. */
export const sprtText = ({ llr, lower, upper }: Pick<SprtStatus, "llr" | "lower" | "upper">): string =>
  `SPRT ${llr.toFixed(2)} (${lower.toFixed(2)}, ${upper.toFixed(2)})`;

/** The statement of an accepted hypothesis: `H1 accepted: Ann is better than Bob`. */
export const acceptedText = (
  accepted: "H0" | "H1",
  options: Pick<SprtOptions, "elo0" | "elo1">,
  first: string,
  second: string,
): string => `${accepted} accepted: ${first} ${claimOf(accepted, options)} ${second}`;

function claimOf(accepted: "H0" | "H1", { elo0, elo1 }: Pick<SprtOptions, "elo0" | "elo1">): string {
  if (accepted === "H1") return elo0 >= 0 ? "is better than" : `is not ${-elo0} Elo worse than`;
  return elo1 > 0 ? `is not ${elo1} Elo better than` : "is worse than";
}
