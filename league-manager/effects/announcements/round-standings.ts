import type { League } from "../../league/league.ts";
import { createTally, type Standing, type StandingsPlayer, type Tally } from "../../league/standings.ts";

/**
 * The standings of leagues after each of their rounds. A tally is kept for each league, and each round is added to it once: results of the rounds
 * after it, e.g. forfeits that are committed when a round is opened, are not in it.
 */
export class RoundStandings {
  readonly #tallies = new Map<string, { tally: Tally; rounds: number }>();

  /** The standings of these players after a round. This round and all before it are completed. */
  after({ leagueId, rounds }: League, roundId: number, players: readonly StandingsPlayer[]): readonly Standing[] {
    let counted = this.#tallies.get(leagueId);
    // An earlier round than before is rare: an agent was sent nothing for longer than a round.
    if (!counted || counted.rounds > roundId) counted = { tally: createTally(), rounds: 0 };
    for (const { matches } of rounds.slice(counted.rounds, roundId)) {
      for (const match of matches) counted.tally.addMatch(match);
    }
    counted.rounds = roundId;
    this.#tallies.set(leagueId, counted);
    return counted.tally.standings(players);
  }
}
