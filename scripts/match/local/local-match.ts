import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { MatchDriver } from "../../../referee/match/driven-match.ts";
import { notifyResult } from "../../../referee/match/messages.ts";
import { playMatch } from "../../../referee/match/play-match.ts";
import type { MatchSystem } from "../system.ts";
import { createLocalAsker, type LocalPlayer } from "./local-asker.ts";
import { LocalSessions } from "./local-sessions.ts";

/** Plays a match to its end. Rejects if the game or this program fails, which is the fault of no player. */
export type PlayOrder = (order: StartGame) => Promise<MatchResult>;

/** Returns the function that plays matches between bots of this process with the driver of referees. `playerAt` returns the player at an endpoint. */
export function localMatches(
  playerAt: (endpoint: string) => LocalPlayer,
  system: Pick<MatchSystem, "clock" | "ids">,
): PlayOrder {
  const sessions = new LocalSessions(system);
  const driver: MatchDriver = {
    host: sessions,
    asker: createLocalAsker(playerAt, system.clock),
    ...{ clock: system.clock, ids: system.ids },
  };
  const { signal } = new AbortController();
  return async (order) => {
    const sessionId = sessions.create(order);
    try {
      const result = await playMatch(driver, order, sessionId, signal);
      await notifyResult(driver, order, sessionId, result, signal);
      return result;
    } finally {
      sessions.forget(sessionId);
    }
  };
}
