import { messageOf } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";

/**
 * Errors of this program or of the store. Each is confined to the league in which it occurred: it is logged, and a notice is sent if the league has
 * not failed with the same message before.
 */
export interface Failures {
  ofLeague(leagueId: string, thrown: unknown): void;
  /**
   * A command of an effect was rejected. That is expected when the state has changed in the meantime; a rejection that comes again is logged as a
   * warning, once.
   */
  ofCommand(leagueId: string, error: ProtocolError): void;
  /** Logs an error that concerns no single league. */
  other(thrown: unknown, what: string): void;
}

/** Rejections of one league that are remembered. */
const MOST_REJECTIONS = 100;

export function createFailures(log: Logger, notice: (message: string) => void): Failures {
  const lastMessage = new Map<string, string>();
  /** How often each message occurred, by league and message. */
  const rejections = new Map<string, Map<string, number>>();
  return {
    ofLeague(leagueId, thrown) {
      log.error({ err: thrown, league: leagueId }, "a league cannot go on");
      const message = messageOf(thrown);
      if (lastMessage.get(leagueId) === message) return;
      lastMessage.set(leagueId, message);
      notice(`${leagueId} cannot go on: ${message}`);
    },
    ofCommand(leagueId, error) {
      const known = rejections.get(leagueId);
      const ofLeague = known && known.size < MOST_REJECTIONS ? known : new Map<string, number>();
      rejections.set(leagueId, ofLeague);
      const count = (ofLeague.get(error.message) ?? 0) + 1;
      ofLeague.set(error.message, count);
      const level = count === 2 ? "warn" : "debug";
      log[level]({ league: leagueId, error }, "a command of an effect was rejected");
    },
    other: (thrown, what) => log.error({ err: thrown }, what),
  };
}
