import type { Clock } from "#shared/lib/clock.ts";
import { matchRef } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import { flat } from "#shared/lib/text.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { CallFault } from "#shared/rpc/peer/call.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { KeptRegistration } from "#shared/runtime/registration.ts";
import { type MatchDriver, notificationsAnswered, notifyResult } from "./play-match.ts";

export interface ReportOptions {
  readonly driver: MatchDriver;
  readonly peers: Peers;
  readonly log: Logger;
  /** The manager's endpoint. */
  readonly manager: string;
  /** The time limit for the answer to one MATCH_RESULT. */
  readonly reportTimeoutMs: number;
  /** Registration sets it. */
  readonly identity: ReporterIdentity;
}

interface ReporterIdentity {
  readonly id: string;
  readonly token: string | null;
  /** Whether the manager can be called over a WebSocket. */
  readonly managerOffersWebSocket?: boolean;
  readonly kept?: KeptRegistration;
}

/**
 * How long MATCH_RESULT waits for the players to acknowledge GAME_RESULT. The manager sends ROUND_END after the last result of a round, so a
 * player that acknowledges within this time receives ROUND_END after the GAME_RESULT of its match. A slow player must not delay the league.
 */
export const ACKNOWLEDGE_WITHIN_MS = 250;

/** The first pause between two reports. Each pause is twice the previous one, up to one of the two limits below. */
const FIRST_PAUSE_MS = 100;
/** The longest pause if the manager gave no answer or a retryable error. It may be starting. */
const MAX_PAUSE_MS = 2_000;
/** The longest pause if the answer is not from the manager, such as the error page of a proxy. Only an operator can correct that. */
const MAX_PAUSE_AFTER_FOREIGN_ANSWER_MS = 60_000;
/** The number of characters of such an answer that are logged. */
const LOGGED_CHARACTERS = 200;

/**
 * Sends the result of a match to its players as GAME_RESULT and to the manager as MATCH_RESULT. The players come first, except in an order
 * without `run_id`: its manager may use one seed for all epochs of a match, and GAME_RESULT reveals the seed. Players of such a match are
 * notified when the manager has recorded the result. An aborted match is played again; its players are not notified.
 * Resolves when the manager has recorded the result or finally rejected it, or when `signal` is aborted.
 */
export async function reportResult(
  options: ReportOptions,
  order: StartGame,
  sessionId: string,
  result: MatchResult,
  signal: AbortSignal,
): Promise<void> {
  const { driver } = options;
  const isForPlayers = result.termination !== "aborted" && !signal.aborted;
  const isSeedOfEpoch = order.run_id != null;
  if (isForPlayers && isSeedOfEpoch) {
    await notificationsAnswered(driver, order, sessionId, signal);
    if (signal.aborted) return;
    const notified = notifyResult(driver, order, sessionId, result, signal);
    await settledWithin(acknowledgeWithinMs(order), notified, driver.clock);
  }
  const isRecorded = await record(options, result, signal);
  if (isForPlayers && !isSeedOfEpoch && isRecorded) void notifyResult(driver, order, sessionId, result, signal);
}

/** Players of other dialects may accept their next invitation only after the result of the last match, so it must have been delivered before. */
const acknowledgeWithinMs = ({ roles, timeouts }: StartGame): number =>
  Object.values(roles).some(({ dialect }) => dialect !== NATIVE) ? timeouts.game_over_ms : ACKNOWLEDGE_WITHIN_MS;

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
    const renewals = identity.kept?.renewals();
    const token = identity.token ?? "";
    const envelope = newEnvelope("MATCH_RESULT", flat("referee:", identity.id), result, {
      messageId: driver.ids.uuid(),
      authToken: token,
      at: driver.clock.iso(),
    });
    const call = {
      timeoutMs: reportTimeoutMs,
      bearer: token,
      signal,
      socket: identity.managerOffersWebSocket ?? false,
    };
    const reply = await peers.message(manager, envelope, call).catch(asRefused);
    if (signal.aborted) return false;
    if (reply.ok && reply.value.payload.error_code === "L004") {
      await identity.kept?.renew();
      if (identity.kept?.renewals() !== renewals) continue;
    }
    const verdict = verdictIn(reply, match, log);
    if (verdict !== null) return verdict;
    const foreign = !reply.ok && isForeignAnswer(reply.error) ? reply.error : null;
    const maxPauseMs = foreign ? MAX_PAUSE_AFTER_FOREIGN_ANSWER_MS : MAX_PAUSE_MS;
    pauseMs = Math.min(pauseMs, maxPauseMs);
    if (foreign && (!wasForeign || pauseMs === maxPauseMs)) {
      const { detail, raw } = foreign;
      log.error({ match, manager, reason: detail, answer: raw?.slice(0, LOGGED_CHARACTERS) }, FOREIGN_ANSWER);
    }
    wasForeign = foreign !== null;
    await driver.clock.pause(pauseMs, signal);
  }
  return false;
}

/** Returns true if the manager has recorded the result, false if it has finally rejected it, and null if it is to be sent again. */
function verdictIn(reply: Result<Envelope, CallFault>, match: string, log: Logger): boolean | null {
  if (!reply.ok) {
    if (reply.error.cause !== "bad_reply") return null;
    log.error({ match, fault: reply.error }, "the manager cannot parse a result");
    return false;
  }
  const { type, payload } = reply.value;
  if (type === "MATCH_RESULT_RESPONSE") return true;
  if (payload.retryable === true) return null;
  log.warn({ match, rejection: payload }, "the manager has finally rejected a result");
  return false;
}

const FOREIGN_ANSWER =
  "a result is not recorded, because the answer is not from the manager; check the manager's address and its proxy, which must accept bodies of 5 MB; the result is sent again";

/** Whether an answer cannot come from a manager: it is a page, or has a status for an invalid request. */
const isForeignAnswer = ({ cause, status = 0 }: CallFault): boolean =>
  cause === "bad_json" ||
  cause === "too_large" ||
  (cause === "http_error" && status < 500 && status !== 408 && status !== 429);
