import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import type { SessionHost } from "../sessions/host.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import { abandon, runMatch } from "./match-run.ts";
import type { MatchRow } from "./match-table.ts";
import { seatsOf } from "./messages.ts";
import { type RefereeState, WITHDRAWN } from "./referee-state.ts";

/** A seat that is stored from an earlier epoch or run may have another token in the new order. */
const UPDATE_TOKEN = "UPDATE agents SET token = ?1 WHERE agent_id = ?2 AND token <> ?1";

export interface StartedMatch {
  readonly match_id: string;
  readonly session_id: string;
}

/** Starts or resumes the match of an order, or rejects the order. Orders of one match must be handled one after the other. */
export async function startMatch(state: RefereeState, order: StartGame): Promise<Result<StartedMatch, ProtocolError>> {
  const { options, running, withdrawals } = state;
  const { matches, driver } = options;
  const { league_id, match_id, epoch } = order;
  const ref = matchRef(league_id, match_id);
  const kept = matches.find(league_id, match_id);
  const newest = kept && isOfRun(driver.host, kept, order) ? kept : null;
  if (newest && newest.epoch > epoch) {
    return protocolRejected("MATCH_SUPERSEDED", `${ref} has been begun under epoch ${newest.epoch}`, { match_id });
  }
  const now = running.get(ref);
  const past = withdrawals.rejectionOf(order);
  if (past) return past;
  if (newest?.epoch === epoch && now) return ok({ match_id, session_id: now.sessionId });
  now?.withdraw.abort();
  const isResumed = newest?.epoch === epoch;
  // This precedes the creation of the new session: after a crash between the two, the old session would stay active.
  if (kept && !isResumed) {
    abandon(options, kept.session_id, newest ? `played again under epoch ${epoch}` : "the league was started afresh");
  }
  if (kept && !newest) {
    await matches.forget(league_id, match_id);
    options.onTokensChanged?.();
  }
  const sessionId = isResumed ? newest.session_id : await createSession(state, order, kept !== null);
  const pastNow = withdrawals.rejectionOf(order);
  if (pastNow) {
    abandon(options, sessionId, WITHDRAWN);
    return pastNow;
  }
  const withdraw = new AbortController();
  if (state.isStopped) withdraw.abort();
  runMatch(state, { order, sessionId, withdraw });
  return ok({ match_id, session_id: sessionId });
}

/** Creates the session of a match. If the match is known, its seats may have other tokens in the database. */
async function createSession({ options, sessions }: RefereeState, order: StartGame, isKnown: boolean): Promise<string> {
  const { driver, matches } = options;
  const { league_id, match_id, epoch, run_id = null } = order;
  const game = findGame(order.game);
  if (!game) throw new Error(`unknown game ${order.game}`);
  const parsed = game.options.parse(order.options ?? {});
  const seats = seatsOf(order);
  const alongside = (session_id: string) => [
    ...matches.adding({ league_id, match_id, epoch, session_id, run_id }),
    ...(isKnown
      ? seats.map(({ agentId, tokenHash }) => ({ sql: UPDATE_TOKEN, parameters: [tokenHash, agentId] }))
      : []),
  ];
  const session = await driver.host.create({ game, options: parsed, seed: order.seed, seats, alongside });
  if (isKnown) options.onTokensChanged?.();
  sessions.forget();
  return session.id;
}

/**
 * Whether a stored match belongs to the run of an order, and not to an earlier run with a match of the same name. Without run ids the
 * seed distinguishes the runs: a manager that names no run uses one seed for all epochs of a match.
 */
function isOfRun(host: SessionHost, kept: MatchRow, order: StartGame): boolean {
  if (kept.run_id !== null && order.run_id != null) {
    if (kept.run_id !== order.run_id) return false;
    if (kept.epoch !== order.epoch) return true;
  }
  const session = host.read(kept.session_id)?.session;
  const participants = Object.fromEntries(seatsOf(order).map(({ role, agentId }) => [role, agentId]));
  return session?.seedCommitment === sha256Hex(order.seed) && isDeepStrictEqual(session.participants, participants);
}
