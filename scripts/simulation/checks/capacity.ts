import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { Plan } from "../plan.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** Checks that no referee has more matches than its capacity. A match that was taken from it counts until the referee has acknowledged this. */
export function faultsOfCapacity({ capacity }: Plan, events: readonly LeagueEvent[]): readonly Fault[] {
  if (capacity === undefined) return [];
  /** The matches of each referee, with their epochs. */
  const matches = new Map<string, Set<string>>();
  const assigned = new Map<string, string>();
  const faults: string[] = [];
  const remove = (refereeId: string | undefined, match: string): void =>
    void matches.get(refereeId ?? "")?.delete(match);
  for (const event of events) {
    if (!("match_id" in event) || !("epoch" in event)) continue;
    const match = `${event.match_id}, epoch ${event.epoch}`;
    if (event.type === "match_assigned") {
      const { referee_id } = event;
      const ofReferee = matches.get(referee_id) ?? new Set();
      matches.set(referee_id, ofReferee.add(match));
      assigned.set(match, referee_id);
      if (ofReferee.size > capacity) faults.push(`${referee_id} has ${ofReferee.size} matches with ${match}`);
    } else if (event.type === "withdrawal_settled") remove(event.referee_id, match);
    else if (isReported(event)) remove(assigned.get(match), match);
  }
  return faultsOf("capacity", faults);
}

/** Whether the referee of a match has reported its end, so that it does not play the match any longer. */
const isReported = (event: LeagueEvent): boolean =>
  event.type === "match_completed" ||
  (event.type === "match_released" && event.reason === "aborted") ||
  (event.type === "match_aborted" && event.referee_id !== null);
