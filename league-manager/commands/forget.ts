import { err } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { isInSomeLeague } from "../agents/entries.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { playerOf, withoutPlayer } from "./players.ts";

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
