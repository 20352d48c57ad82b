import { hmacBase64Url } from "../lib/hash.ts";
import { matchRef } from "../lib/ids.ts";

/**
 * How the seeds of matches follow from a secret seed. `per_league`: from the seed of the league, which is revealed when that league completes.
 * `per_epoch`: the same from the seed of the run, as in versions without a seed for each league. With both a match that is played again has another
 * seed, because its players have seen cards or draws of the first one. `per_match`: one seed for all epochs of a match, from the seed of the run,
 * as in still older versions.
 */
export type SeedRule = "per_match" | "per_epoch" | "per_league";

/** The seed of one match under one epoch. `source.seed` is the league's seed under `per_league`, else the run's. */
export function matchSeed(
  source: { readonly seed: string; readonly seedRule: SeedRule },
  leagueId: string,
  matchId: string,
  epoch: number,
): string {
  const ref = matchRef(leagueId, matchId);
  return hmacBase64Url(source.seed, source.seedRule === "per_match" || epoch === 1 ? ref : `${ref}/${epoch}`);
}
