import { matchRef } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { abandon } from "./match/match-run.ts";
import { MatchSessions } from "./match/match-sessions.ts";
import { type StartedMatch, startMatch } from "./match/match-start.ts";
import { type RefereeOptions, type RefereeState, WITHDRAWN } from "./match/referee-state.ts";
import { Withdrawals } from "./match/withdrawals.ts";

/** The matches that a league manager has given to this referee. */
export interface Referee {
  /** Starts a match. A repeated order returns the same session. */
  start(order: StartGame): Promise<Result<StartedMatch, ProtocolError>>;
  /** Stops playing a match under this epoch or an older one, because it belongs to another referee now. */
  withdraw(leagueId: string, matchId: string, epoch: number): void;
  /** The session of a match id, alone or as `league_id/match_id`. */
  sessionOf(ref: string): Result<string, ProtocolError>;
  /** Matches being played now, by `league_id/match_id`. */
  running(): readonly { readonly ref: string; readonly order: StartGame; readonly sessionId: string }[];
  /** Matches that are being played or started, by `league_id/match_id`: each has a place of `max_concurrent_matches`. */
  places(): ReadonlySet<string>;
  stop(): Promise<void>;
}

/** An order that is being handled. */
interface Starting {
  readonly isOver: Promise<void>;
  readonly runId: string | null;
}

export function createReferee(options: RefereeOptions): Referee {
  const { matches, log } = options;
  const state: RefereeState = {
    options,
    running: new Map(),
    sessions: new MatchSessions(matches),
    withdrawals: new Withdrawals(),
    isStopped: false,
  };
  const { running, sessions, withdrawals } = state;
  /** Orders of one match are handled one after the other, because each depends on what the one before has begun. */
  const starting = new Map<string, Starting>();
  return {
    start(order) {
      const ref = matchRef(order.league_id, order.match_id);
      const before = starting.get(ref);
      const started = before ? before.isOver.then(() => startMatch(state, order)) : startMatch(state, order);
      const isOver = started.then(
        () => {},
        () => {},
      );
      const entry = { isOver, runId: order.run_id ?? null };
      starting.set(ref, entry);
      isOver.then(() => starting.get(ref) === entry && starting.delete(ref));
      return started;
    },
    withdraw(leagueId, matchId, epoch) {
      const ref = matchRef(leagueId, matchId);
      const kept = matches.find(leagueId, matchId);
      // The message names no run. It may be repeated when the match no longer runs here, so the stored run counts too.
      const runId = starting.get(ref)?.runId ?? running.get(ref)?.order.run_id ?? kept?.run_id ?? null;
      withdrawals.add(ref, epoch, runId);
      log.warn({ match: ref, epoch }, WITHDRAWN);
      if (!kept || kept.epoch > epoch) return;
      running.get(ref)?.withdraw.abort();
      running.delete(ref);
      abandon(options, kept.session_id, WITHDRAWN);
    },
    sessionOf: (ref) => sessions.of(ref),
    running: () => [...running].map(([ref, { order, sessionId }]) => ({ ref, order, sessionId })),
    places: () => new Set([...running.keys(), ...starting.keys()]),
    async stop() {
      state.isStopped = true;
      for (const { withdraw } of running.values()) withdraw.abort();
    },
  };
}
