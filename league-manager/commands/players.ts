import { sha256Hex } from "#shared/lib/hash.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Agent } from "../agents/agent.ts";
import { isInSomeLeague } from "../agents/entries.ts";
import type { Place } from "../agents/places.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { Draft } from "./draft.ts";
import { leaveOpenLeagues, leaveRunningLeagues } from "./leave.ts";

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
export function withoutPlayer(
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
