import { hmacBase64Url } from "#shared/lib/hash.ts";
import { matchSeed } from "#shared/session/match-seed.ts";

/** The seed of a league, secret until it completes: the HMAC of the league's id under the seed of the run. */
export const leagueSeed = (runSeed: string, leagueId: string): string => hmacBase64Url(runSeed, leagueId);

/** The seed of a match under an epoch, from the seed of its league. */
export const seedOfMatch = (seedOfLeague: string, leagueId: string, matchId: string, epoch: number): string =>
  matchSeed({ seed: seedOfLeague, seedRule: "per_league" }, leagueId, matchId, epoch);

/** The seeds of all matches of a run. */
export const matchSeeds =
  (runSeed: string) =>
  (leagueId: string, matchId: string, epoch: number): string =>
    seedOfMatch(leagueSeed(runSeed, leagueId), leagueId, matchId, epoch);
