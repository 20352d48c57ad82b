import { ok } from "#shared/lib/result.ts";
import { acceptsLateEntries } from "../format-view.ts";
import type { League } from "../league.ts";
import { type CommandOf, type Decided, rejectLeague, rejectState, UNCHANGED } from "./decision.ts";

/** Enters a player into an open league, or into a running one that accepts late entries. */
export function decideEnter(league: League, { playerId, nameCommitment, byOperator }: CommandOf<"enter">): Decided {
  if (league.entrants.has(playerId)) return UNCHANGED;
  const entry = { type: "player_entered", player_id: playerId, name_commitment: nameCommitment } as const;
  if (league.status === "open") return ok([entry]);
  const closed = lateEntryRejection(league, byOperator === true);
  if (closed !== null) return rejectLeague(league, closed, "L001");
  return ok([{ ...entry, entered_after: league.rounds.length, ...(byOperator && { by_operator: true }) }]);
}

/** Returns the reason why a league that is not open accepts no further player, or null if it accepts one. */
export function lateEntryRejection(league: League, byOperator: boolean): string | null {
  const { status, lateEntry, isPairingComplete, format } = league;
  if (status === "completed") return "is over";
  if (lateEntry === "closed" && !byOperator) return "is running and accepts no more players";
  if (!acceptsLateEntries(league)) {
    const advice = format === "round-robin" ? '; its config needs "late_entry": "makeup" before the start' : "";
    return `is running, and its format has no matches for a player that enters now${advice}`;
  }
  return isPairingComplete ? "is running, and its last matches are paired" : null;
}

/** Removes a player from an open league. In a running league the player stays an entrant, and its further matches are forfeited. */
export function decideLeave(league: League, { playerId, agentVersion }: CommandOf<"leave">): Decided {
  const { status, entrants, departed } = league;
  if (status === "completed" || !entrants.has(playerId) || departed.includes(playerId)) return UNCHANGED;
  if (status === "open") return ok([{ type: "player_left", player_id: playerId }]);
  return agentVersion === undefined
    ? rejectState(league, `${playerId} leaves a running league only with the version of its log`)
    : ok([{ type: "player_left", player_id: playerId, agent_version: agentVersion }]);
}
