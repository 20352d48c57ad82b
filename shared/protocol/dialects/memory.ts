import type { RoundEnd } from "../announcements.ts";

/**
 * The rounds that have ended, by league, and that one player has not been sent as completed: the manager sends ROUND_END and then the standings, and a
 * dialect has both in messages after the standings. A manager that is restarted between the two sends both again. All else that a message of a dialect
 * refers to stands in its contact, because a process that is restarted has not sent the earlier messages.
 */
export type Memory = Map<string, RoundEnd[]>;

export function addEnded(memory: Memory, round: RoundEnd): void {
  memory.set(round.league_id, [...(memory.get(round.league_id) ?? []), round]);
}

/** Removes and returns the ended rounds of a league. */
export function takeEnded(memory: Memory, leagueId: string): readonly RoundEnd[] {
  const ended = memory.get(leagueId) ?? [];
  memory.delete(leagueId);
  return ended;
}
