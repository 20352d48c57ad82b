import { foreignPlayers, occupiedPlayers } from "../../commands/foreign-players.ts";
import type { Assignment } from "../../commands/matches.ts";
import { matchOf } from "../../league/evolve.ts";
import type { Match } from "../../league/league.ts";
import type { ManagerState } from "../../ledger.ts";

/** Which scheduled matches may be assigned now: a player of another dialect has one match at a time. */
export class ForeignTurns {
  readonly #state: ManagerState;
  readonly #pending: Iterable<Assignment>;
  /** The players that have a match; null until a match has a player of another dialect. */
  #occupied: Set<string> | null = null;

  /** `pending` are assignments that are not committed yet. */
  constructor(state: ManagerState, pending: Iterable<Assignment>) {
    this.#state = state;
    this.#pending = pending;
  }

  isTurnOf(match: Match): boolean {
    return foreignPlayers(this.#state, match).every((id) => !this.#players().has(id));
  }

  /** Counts a match as assigned. */
  assign(match: Match): void {
    for (const id of foreignPlayers(this.#state, match)) this.#players().add(id);
  }

  #players(): Set<string> {
    if (this.#occupied) return this.#occupied;
    const occupied = occupiedPlayers(this.#state);
    for (const { leagueId, matchId } of this.#pending) {
      const league = this.#state.leagues.get(leagueId);
      for (const id of (league && matchOf(league, matchId)?.players) ?? []) occupied.add(id);
    }
    this.#occupied = occupied;
    return occupied;
  }
}
