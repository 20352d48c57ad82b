import { sha256Hex } from "#shared/lib/hash.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { isInSomeLeague } from "../agents/admission.ts";
import type { Place } from "../agents/places.ts";
import type { Agent } from "../agents/registered-agent.ts";
import { currentMatches } from "../league/league.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { Draft } from "./draft.ts";

/** Records that a suspended player has answered a health probe. */
export const recoverPlayer =
  (playerId: string): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    if (state.agents.has(playerId)) draft.agent(playerId, { type: "recover", by: "health" });
    return draft.decision(null);
  };

/** Removes a player from open leagues. In running leagues its matches of later rounds are forfeited. Rejects an unknown player with L004. */
export const removePlayer =
  (playerId: string): Decide<{ readonly playerId: string; readonly name: string }> =>
  (state, at) => {
    const player = playerOf(state, playerId);
    if (!player.ok) return player;
    const draft = withoutPlayer(state, at, playerId, { inLog: "remove", reason: "removed" });
    return draft.decision({ playerId, name: player.value.name });
  };

/**
 * Takes a player out of its leagues at its own request: out of open leagues, and in running ones its matches of later rounds are forfeited. Rejects an
 * unknown player with L004.
 */
export const leaveLeagues =
  (playerId: string): Decide<{ readonly playerId: string }> =>
  (state, at) => {
    const player = playerOf(state, playerId);
    if (!player.ok) return player;
    return withoutPlayer(state, at, playerId, { inLog: "dismiss", reason: "left" }).decision({ playerId });
  };

/** Takes a player out of open leagues. A player of a running or completed league is kept with the state after `inLog`; another one is forgotten. */
function withoutPlayer(
  state: ManagerState,
  at: string,
  playerId: string,
  { inLog, reason }: { readonly inLog: "remove" | "dismiss"; readonly reason: "removed" | "left" },
): Draft {
  const draft = new Draft(state, at);
  leaveOpenLeagues(draft, playerId);
  const isInLog = isInSomeLeague(draft.state, playerId);
  draft.agent(playerId, isInLog ? { type: inLog } : { type: "forget", reason });
  leaveRunningLeagues(draft, playerId);
  return draft;
}

/** Replaces the token of a player. Rejects a player that the run starts, because the run manages the tokens of its agents. */
export const resetToken =
  (
    playerId: string,
    newToken: string,
    places: readonly Place[],
  ): Decide<{ readonly playerId: string; readonly token: string }> =>
  (state, at) => {
    const player = playerOf(state, playerId);
    if (!player.ok) return player;
    if (places.some(({ id, startedByRun }) => startedByRun && id === playerId)) {
      const message = `${playerId} is started by this run, which manages its token`;
      return err(protocolError("L001", message, { player_id: playerId }));
    }
    const { name, salt, endpoint } = player.value;
    const draft = new Draft(state, at);
    draft.agent(playerId, { type: "reset_token" }, { name, salt, endpoint, tokenHash: sha256Hex(newToken) });
    return draft.decision({ playerId, token: newToken });
  };

/** Returns the registered player with this id, or L004 if there is none. */
export function playerOf({ agents }: ManagerState, player_id: string): Result<Agent, ProtocolError> {
  const player = agents.get(player_id);
  if (player?.kind === "player") return ok(player);
  return err(protocolError("L004", `no player ${player_id} is registered`, { player_id }));
}

/** Removes a player from every open league. */
export function leaveOpenLeagues(draft: Draft, playerId: string): void {
  for (const { leagueId, status } of draft.state.leagues.values()) {
    if (status === "open") draft.mustLeague(leagueId, { type: "leave", playerId });
  }
}

/** Records in its running leagues that a player is shut down, so that their formats pair it no more. */
export function leaveRunningLeagues(draft: Draft, playerId: string): void {
  const { leagues, agents } = draft.state;
  const player = agents.get(playerId);
  if (player?.state !== "SHUTDOWN") return;
  for (const { leagueId, status } of leagues.values()) {
    if (status === "running") draft.mustLeague(leagueId, { type: "leave", playerId, agentVersion: player.version });
  }
}

/**
 * Removes a referee at its own request, after it has stopped its matches. They are released, so that other referees get them in the next pass. Rejects
 * an unknown referee with L004.
 */
export const leaveReferee =
  (refereeId: string): Decide<{ readonly released: number }> =>
  (state, at) => {
    if (state.agents.get(refereeId)?.kind !== "referee") {
      return err(protocolError("L004", `no referee ${refereeId} is registered`, { referee_id: refereeId }));
    }
    const draft = new Draft(state, at);
    let released = 0;
    for (const league of state.leagues.values()) {
      for (const { matchId, epoch, status, refereeId: assigned } of currentMatches(league)) {
        if (status !== "assigned" || assigned !== refereeId) continue;
        const detail = `referee ${refereeId} has left`;
        draft.mustLeague(league.leagueId, { type: "release", matchId, epoch, reason: "unreachable", detail });
        released++;
      }
    }
    dropReferee(draft, refereeId, "left");
    return draft.decision({ released });
  };

/** Forgets a referee that is silent or has left, and settles its withdrawals, because it receives no more messages. */
export function dropReferee(draft: Draft, refereeId: string, reason: "silent" | "left"): void {
  for (const { leagueId, withdrawals } of draft.state.leagues.values()) {
    for (const { matchId, epoch } of withdrawals.filter((withdrawal) => withdrawal.refereeId === refereeId)) {
      draft.mustLeague(leagueId, { type: "settle_withdrawal", matchId, epoch, refereeId });
    }
  }
  draft.agent(refereeId, { type: "forget", reason });
}

/**
 * Removes a player and erases its profile: its name, its address and its token. Events contain only a commitment to the name, so the logs stay valid.
 * A player of a running or completed league stays in the state, with its id as its name. Rejects an unknown player with L004, and with L001 a player
 * whose match is under way, because its referee and its opponents need its address.
 */
export const forgetPlayer =
  (playerId: string): Decide<{ readonly playerId: string }> =>
  (state, at) => {
    const player = playerOf(state, playerId);
    if (!player.ok) return player;
    const match = matchUnderWay(state, playerId);
    if (match !== null) {
      const message = `${playerId} has a match to play (${match}): remove it now, and forget it when the match is over`;
      return err(protocolError("L001", message, { player_id: playerId }));
    }
    const draft = withoutPlayer(state, at, playerId, { inLog: "remove", reason: "removed" });
    if (isInSomeLeague(draft.state, playerId)) draft.agent(playerId, { type: "erase" });
    return draft.decision({ playerId });
  };

/** Returns the name of a match of an opened round that the player has still to play, or null. */
function matchUnderWay({ leagues }: ManagerState, playerId: string): string | null {
  for (const { leagueId, status, rounds } of leagues.values()) {
    if (status !== "running") continue;
    for (const { isOpened, open, matches } of rounds) {
      if (!isOpened || open === 0) continue;
      const match = matches.find(({ status: is, players }) => is !== "completed" && players.includes(playerId));
      if (match) return `${leagueId}/${match.matchId}`;
    }
  }
  return null;
}

/** Makes a referee ACTIVE, because a league is running. A referee that was dismissed after earlier leagues is renewed first. */
export function activateReferee(draft: Draft, refereeId: string): void {
  draft.agent(refereeId, { type: "renew" });
  draft.agent(refereeId, { type: "activate" });
}
