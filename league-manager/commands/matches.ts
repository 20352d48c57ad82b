import { matchRef } from "#shared/lib/ids.ts";
import { err } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { LeagueCommand } from "../league/commands.ts";
import { matchOf } from "../league/evolve.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { Draft } from "./draft.ts";
import { foreignPlayers, occupiedPlayers } from "./foreign-players.ts";

type CommandFields<T extends LeagueCommand["type"]> = { readonly leagueId: string } & Omit<
  Extract<LeagueCommand, { type: T }>,
  "type"
>;
export type Assignment = CommandFields<"assign">;
type Release = CommandFields<"release">;
type SettledWithdrawal = CommandFields<"settle_withdrawal">;

/**
 * Assigns a match to a referee. Rejects an unregistered referee with L004. Rejects a referee that has its maximum number of matches over all leagues,
 * and a player of another dialect that has another match, with G005, which is retryable.
 */
export const assignMatch =
  ({ leagueId, ...command }: Assignment): Decide<null> =>
  (state, at) => {
    const { refereeId, matchId } = command;
    const referee = state.agents.get(refereeId);
    if (referee?.kind !== "referee") {
      return err(protocolError("L004", `no referee ${refereeId} is registered`, { referee_id: refereeId }));
    }
    if (occupiedIn(state, refereeId) >= referee.maxConcurrent) {
      const message = `referee ${refereeId} has no free capacity for ${matchRef(leagueId, matchId)}`;
      return err(protocolError("G005", message, { referee_id: refereeId, match_id: matchId }, true));
    }
    const occupied = occupiedForeignPlayer(state, leagueId, matchId);
    if (occupied !== undefined) {
      const message = `player ${occupied} has another match than ${matchRef(leagueId, matchId)}`;
      return err(protocolError("G005", message, { player_id: occupied, match_id: matchId }, true));
    }
    const draft = new Draft(state, at);
    const assigned = draft.league(leagueId, { type: "assign", ...command });
    return assigned.ok ? draft.decision(null) : assigned;
  };

/** Takes a match from its referee. */
export const releaseMatch =
  ({ leagueId, ...command }: Release): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const released = draft.league(leagueId, { type: "release", ...command });
    return released.ok ? draft.decision(null) : released;
  };

/**
 * Takes matches from their referees in one append. A match that is already released or completed is not changed. The withdrawal from a referee that
 * is no longer registered is settled, because no message can reach it.
 */
export const releaseMatches =
  (releases: readonly Release[]): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    for (const { leagueId, ...command } of releases) {
      const { matchId, epoch } = command;
      const league = state.leagues.get(leagueId);
      const refereeId = (league && matchOf(league, matchId)?.refereeId) ?? null;
      const released = draft.league(leagueId, { type: "release", ...command });
      if (!released.ok || refereeId === null || state.agents.has(refereeId)) continue;
      draft.mustLeague(leagueId, { type: "settle_withdrawal", matchId, epoch, refereeId });
    }
    return draft.decision(null);
  };

/** Records that a referee has acknowledged the withdrawal of a match. */
export const settleWithdrawal =
  ({ leagueId, ...command }: SettledWithdrawal): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const settled = draft.league(leagueId, { type: "settle_withdrawal", ...command });
    return settled.ok ? draft.decision(null) : settled;
  };

/** A player of a scheduled match that speaks another dialect and has an assigned match. */
function occupiedForeignPlayer(state: ManagerState, leagueId: string, matchId: string): string | undefined {
  const league = state.leagues.get(leagueId);
  const match = league && matchOf(league, matchId);
  const foreign = match?.status === "scheduled" ? foreignPlayers(state, match) : [];
  if (foreign.length === 0) return undefined;
  const occupied = occupiedPlayers(state);
  return foreign.find((id) => occupied.has(id));
}

/** The number of matches of all leagues that occupy a referee. */
function occupiedIn({ leagues }: ManagerState, refereeId: string): number {
  let count = 0;
  for (const { occupied } of leagues.values()) count += occupied.get(refereeId) ?? 0;
  return count;
}
