import { createTally, type Standing, type StandingsPlayer, type Tally } from "#shared/standings/standings.ts";
import type { League } from "../../league/league.ts";
import { rankedStandings } from "../../league/standings-of.ts";

/**
 * Computes the standings of leagues after each round. It caches one tally for each league and adds each round once, without the results of later
 * rounds, such as the forfeits that are committed when a round is opened.
 */
export class RoundStandings {
  readonly #tallies = new Map<string, { tally: Tally; rounds: number; annulled: number }>();

  /** The standings of these players after a round. The caller ensures that this round and all earlier ones are completed. */
  after(league: League, roundId: number, players: readonly StandingsPlayer[]): readonly Standing[] {
    const { leagueId, rounds, annulledCount: annulled } = league;
    let progress = this.#tallies.get(leagueId);
    // An earlier round than that of the previous call is rare: the queue of an agent is more than a round behind. An annulled match is rare too.
    if (!progress || progress.rounds > roundId || progress.annulled !== annulled) {
      progress = { tally: createTally(), rounds: 0, annulled };
    }
    for (const { matches, byes } of rounds.slice(progress.rounds, roundId)) {
      for (const match of matches) progress.tally.addMatch(match);
      progress.tally.addByes(byes);
    }
    progress.rounds = roundId;
    this.#tallies.set(leagueId, progress);
    return rankedStandings(league, players, progress.tally, () => rounds.slice(0, roundId));
  }
}
