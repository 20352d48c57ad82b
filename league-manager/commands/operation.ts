/** The commands by which an operator changes a running league. */

import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { nameCommitment } from "../agents/decide.ts";
import type { LeagueCommand } from "../league/commands.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { Draft } from "./draft.ts";
import { playerOf } from "./players.ts";

/** Executes one command to a league. Replies with null. */
const inLeague =
  (leagueId: string, command: LeagueCommand): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const decided = draft.league(leagueId, command);
    return decided.ok ? draft.decision(null) : decided;
  };

export const pauseLeague = (leagueId: string): Decide<null> => inLeague(leagueId, { type: "pause" });

export const resumeLeague = (leagueId: string): Decide<null> => inLeague(leagueId, { type: "resume" });

/** Raises extendable options of the format. */
export const extendLeague = (leagueId: string, formatOptions: Readonly<Record<string, unknown>>): Decide<null> =>
  inLeague(leagueId, { type: "extend", formatOptions });

/** Ends a running league with the standings so far. */
export const endLeague = (leagueId: string): Decide<null> => inLeague(leagueId, { type: "end" });

/** Makes a match count for no player. */
export const annulMatch = (leagueId: string, matchId: string, reason: string): Decide<null> =>
  inLeague(leagueId, { type: "annul", matchId, reason });

/** Ends a round whose time is over. */
export const expireRound = (leagueId: string, roundId: number): Decide<null> =>
  inLeague(leagueId, { type: "expire_round", roundId });

/** Enters a registered player into a league, also into a running one that accepts no late entries. */
export const addPlayer =
  (leagueId: string, playerId: string): Decide<null> =>
  (state, at) => {
    const profile = activePlayer(state, playerId);
    if (!profile.ok) return profile;
    const draft = new Draft(state, at);
    const command = { type: "enter", playerId, nameCommitment: profile.value, byOperator: true } as const;
    const entered = draft.league(leagueId, command);
    if (!entered.ok) return entered;
    if (draft.state.leagues.get(leagueId)?.status === "running") draft.agent(playerId, { type: "activate" });
    return draft.decision(null);
  };

/** Returns the commitment to the name of a registered player that is not shut down. */
function activePlayer(state: ManagerState, player_id: string): Result<string, ProtocolError> {
  const player = playerOf(state, player_id);
  if (!player.ok) return player;
  return player.value.state === "SHUTDOWN"
    ? err(protocolError("L001", `${player_id} is shut down; it must register again first`, { player_id }))
    : ok(nameCommitment(player.value));
}
