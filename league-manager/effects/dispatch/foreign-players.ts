import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { currentMatches, type Match } from "../../league/league.ts";
import type { ManagerState } from "../../ledger.ts";

/**
 * Whether an assigned match may begin. A player of another dialect has one match at a time, also in several leagues: the one that was assigned first.
 * The order follows from the log, so all managers of a run agree on it.
 */
export function isTurnOf(state: ManagerState, leagueId: string, match: Match): boolean {
  const foreign = match.players.filter((id) => (state.agents.get(id)?.dialect ?? NATIVE) !== NATIVE);
  if (foreign.length === 0) return true;
  const position = orderOf(leagueId, match);
  return [...state.leagues.values()].every((league) =>
    currentMatches(league).every(
      (other) =>
        other.status !== "assigned" ||
        !other.players.some((id) => foreign.includes(id)) ||
        orderOf(league.leagueId, other) >= position,
    ),
  );
}

/** A text that orders assigned matches. The times in it have the same length. */
const orderOf = (leagueId: string, { assignedAt, matchId }: Match): string => `${assignedAt} ${leagueId} ${matchId}`;
