import { hmacBase64Url } from "#shared/lib/hash.ts";
import { matchSeed } from "#shared/session/match-seed.ts";

/** The seed of a league as commands need it. A function is called when the format reads the seed; it may throw. */
export type Seed = string | (() => string);

/** The seed of a league: the HMAC of its id with the seed of the run as the key. It is secret until the league completes. */
export const leagueSeed = (runSeed: string, leagueId: string): string => hmacBase64Url(runSeed, leagueId);

/** The seed of a match under an epoch, derived from the seed of its league. */
export const seedOfMatch = (seedOfLeague: string, leagueId: string, matchId: string, epoch: number): string =>
  matchSeed({ seed: seedOfLeague, seedRule: "per_league" }, leagueId, matchId, epoch);

/** Returns a function that derives the seed of each match of a run. */
export const matchSeeds =
  (runSeed: string) =>
  (leagueId: string, matchId: string, epoch: number): string =>
    seedOfMatch(leagueSeed(runSeed, leagueId), leagueId, matchId, epoch);
