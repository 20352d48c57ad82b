import type { Clock } from "#shared/lib/clock.ts";
import { matchRef } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import { flat } from "#shared/lib/text.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import type { CallFault } from "#shared/rpc/peer/pending.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { MatchDriver } from "./driven-match.ts";
import { notifyResult } from "./messages.ts";

export interface ReportOptions {
  readonly driver: MatchDriver;
  readonly peers: Peers;
  readonly log: Logger;
  /** The manager's endpoint. */
  readonly manager: string;
  /** How long one MATCH_RESULT may take to be answered. */
  readonly reportTimeoutMs: number;
  /** This referee's id and token, once it is registered. */
  readonly identity: { readonly id: string; readonly token: string | null };
}

/**
 * How long MATCH_RESULT waits for the players to acknowledge GAME_RESULT. The manager sends ROUND_END after the last result of a round, so a
 * player that acknowledges within this time receives ROUND_END after the GAME_RESULT of its match. A slow player must not hold up the league.
 */
export const ACKNOWLEDGE_WITHIN_MS = 250;

/** Pauses between two reports: the first one, doubled each time up to the last one. */
const FIRST_PAUSE_MS = 100;
/** When the manager gave no answer, or asks for the result again. It may be starting. */
const LAST_PAUSE_MS = 2_000;
/** When the answer is not the manager's, such as the error page of a proxy. Only an operator can mend that. */
const LAST_PAUSE_AFTER_FOREIGN_ANSWER_MS = 60_000;
/** Of such an answer so much is logged. */
const SHOWN_CHARACTERS = 200;

/**
 * Sends the result of a match to its players as GAME_RESULT and to the manager as MATCH_RESULT. The players come first, except in an order
 * without `run_id`: its manager may use one seed for all epochs of a match, and GAME_RESULT reveals the seed. Players of such a match are
 * notified when the manager has recorded the result. An aborted match is played again; its players are not notified.
 * Resolves when the manager has recorded the result or finally rejected it, or when `signal` is aborted.
 */
export async function reportResult(
  options: ReportOptions,
  order: StartGame,
  result: MatchResult,
  signal: AbortSignal,
): Promise<void> {
  const { driver } = options;
  const isForPlayers = result.termination !== "aborted" && !signal.aborted;
  const isSeedOfEpoch = order.run_id != null;
  if (isForPlayers && isSeedOfEpoch) {
    await settledWithin(ACKNOWLEDGE_WITHIN_MS, notifyResult(driver, order, result, signal), driver.clock);
  }
  const isRecorded = await record(options, result, signal);
  if (isForPlayers && !isSeedOfEpoch && isRecorded) void notifyResult(driver, order, result, signal);
}

/** Waits until `work` has settled or `ms` have passed. `work` continues after that. */
async function settledWithin(ms: number, work: Promise<void>, clock: Clock): Promise<void> {
  const settled = new AbortController();
  work.finally(() => settled.abort());
  await clock.pause(ms, settled.signal);
}

/** Sends MATCH_RESULT until the manager has recorded it (true), has finally rejected it or `signal` is aborted (false). */
async function record(options: ReportOptions, result: MatchResult, signal: AbortSignal): Promise<boolean> {
  const { driver, peers, log, identity, manager, reportTimeoutMs } = options;
  const match = matchRef(result.league_id, result.match_id);
  let wasForeign = false;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs *= 2) {
    const token = identity.token ?? "";
    const envelope = newEnvelope("MATCH_RESULT", flat("referee:", identity.id), result, {
      messageId: driver.ids.uuid(),
      authToken: token,
      at: driver.clock.iso(),
    });
    const call = { timeoutMs: reportTimeoutMs, bearer: token, signal };
    const reply = await peers.message(manager, envelope, call).catch(asRefused);
    if (signal.aborted) return false;
    const isFinal = verdictIn(reply, match, log);
    if (isFinal !== null) return isFinal;
    const foreign = !reply.ok && isForeignAnswer(reply.error) ? reply.error : null;
    const lastPauseMs = foreign ? LAST_PAUSE_AFTER_FOREIGN_ANSWER_MS : LAST_PAUSE_MS;
    pauseMs = Math.min(pauseMs, lastPauseMs);
    if (foreign && (!wasForeign || pauseMs === lastPauseMs)) {
      const { detail, raw } = foreign;
      log.error({ match, manager, why: detail, answer: raw?.slice(0, SHOWN_CHARACTERS) }, FOREIGN_ANSWER);
    }
    wasForeign = foreign !== null;
    await driver.clock.pause(pauseMs, signal);
  }
  return false;
}

/** Whether the manager has recorded the result (true) or refused it for good (false); null if it is to be sent again. */
function verdictIn(reply: Result<Envelope, CallFault>, match: string, log: Logger): boolean | null {
  if (!reply.ok) {
    if (reply.error.cause !== "bad_reply") return null;
    log.error({ match, fault: reply.error }, "the manager does not understand a result");
    return false;
  }
  const { type, payload } = reply.value;
  if (type === "MATCH_RESULT_RESPONSE") return true;
  if (payload.retryable === true) return null;
  log.warn({ match, refused: payload }, "the manager refused a result for good");
  return false;
}

const FOREIGN_ANSWER =
  "a result is not recorded, because something else than the manager answered; check the manager's address and its proxy, which must pass bodies of 5 MB; trying again";

/** Whether the answer cannot come from a manager that takes results: a page, or a status that says that the request is wrong. */
const isForeignAnswer = ({ cause, status = 0 }: CallFault): boolean =>
  cause === "bad_json" ||
  cause === "too_large" ||
  (cause === "http_error" && status < 500 && status !== 408 && status !== 429);
