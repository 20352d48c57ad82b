import type { Agent } from "../../agents/agent.ts";
import type { League, Match } from "../../league/league.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Referees } from "./referees.ts";

/** The number of jobs that a manager holds although no referee has free capacity, so that a referee that becomes free gets a match at once. */
const AHEAD = 16;

type FreeCapacity = Pick<Dispatch, "freeCapacity" | "turns">;
type KnownReferees = Pick<Referees, "up" | "registered" | "eligible">;

/** Determines which jobs of the queue a manager takes and keeps, when there are several managers: those that its referees can play. */
export class KeptJobs {
  readonly #dispatch: FreeCapacity;
  readonly #referees: KnownReferees;

  constructor(dispatch: FreeCapacity, referees: KnownReferees) {
    this.#dispatch = dispatch;
    this.#referees = referees;
  }

  /**
   * The number of further jobs that this manager can take; none while no referee answers it. `waiting` are the matches that it holds and that are not
   * assigned. A match that no referee can play does not count, nor one whose player of another dialect has another match, so that it does not keep
   * others from being played.
   */
  slots(waiting: Iterable<readonly [League, Match]>): number {
    const up = this.#referees.up();
    if (up.length === 0) return 0;
    let slots = AHEAD;
    for (const free of this.#dispatch.freeCapacity().values()) slots += Math.max(0, free);
    const eligible = this.#eligible(up);
    const turns = this.#dispatch.turns();
    for (const [league, match] of waiting) {
      if (turns.isTurnOf(match) && eligible(league, match).size > 0) slots--;
    }
    return slots;
  }

  /**
   * Returns a function that determines whether this manager keeps the job of a match. It does not while no referee answers it, nor if a referee plays
   * the game and none that can play the match answers it: another manager may reach one.
   */
  keeps(): (league: League, match: Match) => boolean {
    const up = this.#referees.up();
    const registered = this.#referees.registered();
    const eligible = this.#eligible(up);
    return (league, match) => {
      if (up.length === 0) return false;
      if (match.status !== "scheduled" || eligible(league, match).size > 0) return true;
      return !registered.some(({ gameTypes }) => gameTypes.includes(league.game));
    };
  }

  #eligible(candidates: readonly Agent[]): (league: League, match: Match) => ReadonlySet<Agent> {
    const byLeague = new Map<League, ReturnType<Referees["eligible"]>>();
    return (league, match) => {
      const eligible = byLeague.get(league) ?? this.#referees.eligible(league, candidates);
      byLeague.set(league, eligible);
      return eligible(match);
    };
  }
}
