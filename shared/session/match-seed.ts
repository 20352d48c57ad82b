import { hmacBase64Url } from "../lib/hash.ts";
import { matchRef } from "../lib/ids.ts";

/**
 * How the seeds of a run's matches follow from the seed of the run. `per_epoch`: a match that is played again gets another seed, because its
 * players have seen what the first one gave. `per_match`: runs that older versions began have one seed for all epochs of a match.
 */
export type SeedRule = "per_match" | "per_epoch";

/** The seed of one match under one epoch. Under epoch 1 both rules give the same. */
export function matchSeed(
  run: { readonly seed: string; readonly seedRule: SeedRule },
  leagueId: string,
  matchId: string,
  epoch: number,
): string {
  const ref = matchRef(leagueId, matchId);
  return hmacBase64Url(run.seed, run.seedRule === "per_match" || epoch === 1 ? ref : `${ref}/${epoch}`);
}
