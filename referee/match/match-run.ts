import { matchRef } from "#shared/lib/ids.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { type HostedDriver, MatchWithdrawn } from "./driven-match.ts";
import { matchResult } from "./messages.ts";
import { playMatch } from "./play-match.ts";
import type { RefereeOptions, RefereeState, Running } from "./referee-state.ts";
import { reportResult } from "./report.ts";

/** The public reason of a match that failed because of an error of this program. The error itself may contain paths of this machine. */
const INTERNAL_ERROR = "the referee could not play the match; its log has the cause";

/** Plays a match in the background, reports its result and removes it from the running matches. */
export function runMatch({ options, running }: RefereeState, match: Running): void {
  const { driver, log } = options;
  const { order, sessionId } = match;
  const ref = matchRef(order.league_id, order.match_id);
  running.set(ref, match);
  playAndReport(options, match)
    .catch((thrown) => log.error({ err: thrown, match: ref }, "a match could not be finished"))
    .finally(() => {
      if (running.get(ref) === match) running.delete(ref);
      driver.host.forget(sessionId);
    });
}

async function playAndReport(options: RefereeOptions, { order, sessionId, withdraw }: Running): Promise<void> {
  const { driver, log } = options;
  const ref = matchRef(order.league_id, order.match_id);
  // Ends the requests to the other players, which would otherwise be repeated until their time limit.
  const failure = new AbortController();
  let result: MatchResult;
  try {
    result = await playMatch(driver, order, sessionId, AbortSignal.any([withdraw.signal, failure.signal]));
  } catch (thrown) {
    failure.abort();
    if (thrown instanceof MatchWithdrawn || withdraw.signal.aborted) return;
    log.error({ err: thrown, match: ref }, "a match failed because of an internal error");
    result = await abortedResult(driver, order, sessionId);
  }
  await reportResult(options, order, sessionId, result, withdraw.signal);
}

/** Aborts a match that failed because of an internal error, and returns its result. A completed match keeps its result. */
async function abortedResult(driver: HostedDriver, order: StartGame, sessionId: string): Promise<MatchResult> {
  const { host } = driver;
  await host.abort(sessionId, INTERNAL_ERROR).catch(() => {});
  const session = host.read(sessionId)?.session;
  if (session?.status === "completed") return matchResult(driver, order, session);
  const { league_id, round_id, match_id, epoch } = order;
  const empty = { winner: null, final_scores: {}, match_points: {}, faults: [], log_head: "", log: [] };
  return { league_id, round_id, match_id, epoch, ...empty, termination: "aborted", reason: INTERNAL_ERROR };
}

/** Aborts a session whose match is played by another referee or again. Otherwise it would stay active in lists, streams and memory. */
export function abandon({ driver: { host }, log }: RefereeOptions, sessionId: string, reason: string): void {
  host
    .abort(sessionId, reason)
    .catch((thrown) => log.error({ err: thrown, session: sessionId }, "a session could not be aborted"))
    .finally(() => host.forget(sessionId));
}
