import { messageOf } from "#shared/lib/result.ts";
import type { Logger } from "#shared/runtime/logger.ts";

/**
 * Errors of our own code or of the store. Each is confined to the league in which it occurred: it is logged, and a notice is sent when the league has
 * not failed with the same message before.
 */
export interface Failures {
  ofLeague(leagueId: string, thrown: unknown): void;
  /** Logs an error that concerns no single league. */
  other(thrown: unknown, what: string): void;
}

export function createFailures(log: Logger, notice: (message: string) => void): Failures {
  const lastMessage = new Map<string, string>();
  return {
    ofLeague(leagueId, thrown) {
      log.error({ err: thrown, league: leagueId }, "a league cannot go on");
      const message = messageOf(thrown);
      if (lastMessage.get(leagueId) === message) return;
      lastMessage.set(leagueId, message);
      notice(`${leagueId} cannot go on: ${message}`);
    },
    other: (thrown, what) => log.error({ err: thrown }, what),
  };
}
