import { matchRef } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { MatchNames } from "./match/match-names.ts";
import { abandon } from "./match/match-run.ts";
import { MatchSessions } from "./match/match-sessions.ts";
import { type StartedMatch, startMatch } from "./match/match-start.ts";
import { type RefereeOptions, type RefereeState, WITHDRAWN } from "./match/referee-state.ts";
import { Withdrawals } from "./match/withdrawals.ts";

/** The matches that the league manager has assigned to this referee. */
export interface Referee {
  /** Starts a match. A repeated order returns the same session. */
  start(order: StartGame): Promise<Result<StartedMatch, ProtocolError>>;
  /** Stops a match under this epoch or an older one, because it is assigned to another referee. */
  withdraw(leagueId: string, matchId: string, epoch: number): void;
  /** The session id of a match, which is named by its id or by `league_id/match_id`. */
  sessionOf(ref: string): Result<string, ProtocolError>;
  /** The names of the players of matches, for the pages. */
  readonly names: MatchNames;
  /** The matches under way; `ref` is `league_id/match_id`. */
  running(): readonly { readonly ref: string; readonly order: StartGame; readonly sessionId: string }[];
  /** The matches under way or being started, as `league_id/match_id`. They count toward `max_concurrent_matches`. */
  activeMatches(): ReadonlySet<string>;
  /** Stops all matches without a result. They are resumed after a restart. */
  stop(): Promise<void>;
  /** Ends the matches that `stop` has stopped, because the manager has taken them back. */
  giveUp(): Promise<void>;
}

/** An order that is being handled. */
interface Starting {
  /** Resolves when the order has been accepted or rejected. */
  readonly handled: Promise<void>;
  readonly runId: string | null;
}

/** Creates a referee without matches. `options.identity` is set later by the registration. */
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
  const names = new MatchNames();
  const startNamed = async (order: StartGame): Promise<Result<StartedMatch, ProtocolError>> => {
    const started = await startMatch(state, order);
    if (started.ok) names.add(started.value.session_id, order);
    return started;
  };
  /** The order of each match that is handled last. Orders of one match are handled one after the other, because each depends on the result of the previous one. */
  const starting = new Map<string, Starting>();
  /** The sessions of the matches that `stop` has stopped, by `league_id/match_id`. */
  const stopped = new Map<string, string>();
  return {
    start(order) {
      const ref = matchRef(order.league_id, order.match_id);
      const previous = starting.get(ref);
      const started = previous ? previous.handled.then(() => startNamed(order)) : startNamed(order);
      const handled = started.then(
        () => {},
        () => {},
      );
      const entry = { handled, runId: order.run_id ?? null };
      starting.set(ref, entry);
      handled.then(() => starting.get(ref) === entry && starting.delete(ref));
      return started;
    },
    withdraw(leagueId, matchId, epoch) {
      const ref = matchRef(leagueId, matchId);
      const stored = matches.find(leagueId, matchId);
      // The message does not contain the run. It may be repeated after the match has ended here, so the stored run is used as well.
      const runId = starting.get(ref)?.runId ?? running.get(ref)?.order.run_id ?? stored?.run_id ?? null;
      withdrawals.add(ref, epoch, runId);
      log.warn({ match: ref, epoch }, WITHDRAWN);
      if (!stored || stored.epoch > epoch) return;
      running.get(ref)?.withdraw.abort();
      running.delete(ref);
      abandon(options, stored.session_id, WITHDRAWN);
    },
    sessionOf: (ref) => sessions.of(ref),
    names,
    running: () => [...running].map(([ref, { order, sessionId }]) => ({ ref, order, sessionId })),
    activeMatches: () => new Set([...running.keys(), ...starting.keys()]),
    async stop() {
      state.isStopped = true;
      for (const [ref, match] of running) {
        stopped.set(ref, match.sessionId);
        match.withdraw.abort();
      }
    },
    async giveUp() {
      // A session that is completed stays so, although its result was not recorded.
      const aborts = [...stopped.values()].map((sessionId) => options.driver.host.abort(sessionId, WITHDRAWN));
      await Promise.allSettled(aborts);
    },
  };
}
