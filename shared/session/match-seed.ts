import { hmacBase64Url } from "../lib/hash.ts";
import { matchRef } from "../lib/ids.ts";

/**
 * How the seed of a match is derived from a secret seed:
 * - `per_league`: from the seed of the league, which is revealed when the league completes;
 * - `per_epoch`: from the seed of the run, as in versions without a seed for each league;
 * - `per_match`: from the seed of the run, with one seed for all epochs of a match, as in the oldest versions.
 *
 * Under `per_league` and `per_epoch` a match that is played again has another seed, because its players have seen cards
 * or draws of the first attempt.
 */
export type SeedRule = "per_match" | "per_epoch" | "per_league";

/**
 * Returns the seed of a match in one epoch. `source.seed` is the seed of the league under `per_league`, and otherwise
 * the seed of the run.
 */
export function matchSeed(
  source: { readonly seed: string; readonly seedRule: SeedRule },
  leagueId: string,
  matchId: string,
  epoch: number,
): string {
  const ref = matchRef(leagueId, matchId);
  return hmacBase64Url(source.seed, source.seedRule === "per_match" || epoch === 1 ? ref : `${ref}/${epoch}`);
}
