import { messageOf } from "#shared/lib/result.ts";
import { Unavailable } from "#shared/lib/unavailable.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";

/** Reports errors of effects. An error of one league does not affect the other leagues. */
export interface Failures {
  /** Logs an error of this program or of the store. Sends a notice unless the previous error of the league had the same message. */
  ofLeague(leagueId: string, thrown: unknown): void;
  /**
   * Logs the rejection of an effect's command at the level debug: it is expected if the state has changed since the effect started. The first
   * repetition of a rejection is logged as a warning.
   */
  ofCommand(leagueId: string, error: ProtocolError): void;
  /** Logs an error that does not concern a single league. */
  other(thrown: unknown, message: string): void;
}

/** The maximum number of different rejections of one league that are counted. */
const MAX_REJECTIONS = 100;

export function createFailures(log: Logger, notice: (message: string) => void): Failures {
  const lastMessage = new Map<string, string>();
  /** The number of rejections by league id and message. */
  const rejections = new Map<string, Map<string, number>>();
  return {
    ofLeague(leagueId, thrown) {
      const message = messageOf(thrown);
      // The effect is repeated, so the league continues when its store answers again.
      const waits = thrown instanceof Unavailable;
      if (waits) log.warn({ reason: message, league: leagueId }, "a league waits");
      else log.error({ err: thrown, league: leagueId }, "a league cannot continue");
      if (lastMessage.get(leagueId) === message) return;
      lastMessage.set(leagueId, message);
      notice(`${leagueId} ${waits ? "waits" : "cannot continue"}: ${message}`);
    },
    ofCommand(leagueId, error) {
      const current = rejections.get(leagueId);
      const counts = current && current.size < MAX_REJECTIONS ? current : new Map<string, number>();
      rejections.set(leagueId, counts);
      const count = (counts.get(error.message) ?? 0) + 1;
      counts.set(error.message, count);
      // Another manager has used the free capacity of a referee, or given a player of another dialect a match. The next pass tries again.
      const isFull = error.error_code === "G005" && error.retryable;
      const level = count === 2 && !isFull ? "warn" : "debug";
      log[level]({ league: leagueId, error }, "a command of an effect was rejected");
    },
    other: (thrown, message) => log.error({ err: thrown }, message),
  };
}
