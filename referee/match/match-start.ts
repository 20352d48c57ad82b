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

/** Replaces the token of a seat that is stored from an earlier epoch or run, if the new order has another token. */
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
  const stored = matches.find(league_id, match_id);
  const newest = stored && isOfRun(driver.host, stored, order) ? stored : null;
  if (newest && newest.epoch > epoch) {
    const context = { match_id, epoch: newest.epoch };
    return protocolRejected("MATCH_SUPERSEDED", `${ref} was started under epoch ${newest.epoch}`, context);
  }
  const current = running.get(ref);
  const rejection = withdrawals.rejectionOf(order);
  if (rejection) return rejection;
  if (newest?.epoch === epoch && current) return ok({ match_id, session_id: current.sessionId });
  current?.withdraw.abort();
  const isResumed = newest?.epoch === epoch;
  // The old session is aborted first: after a crash between the two steps it would otherwise stay active.
  if (stored && !isResumed) {
    abandon(
      options,
      stored.session_id,
      newest ? `played again under epoch ${epoch}` : "a new run of the league was started",
    );
  }
  if (stored && !newest) {
    await matches.forget(league_id, match_id);
    options.onTokensChanged?.();
  }
  const sessionId = isResumed ? newest.session_id : await createSession(state, order, stored !== null);
  // The match may have been withdrawn while its session was created.
  const lateRejection = withdrawals.rejectionOf(order);
  if (lateRejection) {
    abandon(options, sessionId, WITHDRAWN);
    return lateRejection;
  }
  const withdraw = new AbortController();
  if (state.isStopped) withdraw.abort();
  runMatch(state, { order, sessionId, withdraw });
  return ok({ match_id, session_id: sessionId });
}

/** Creates the session of a match. If the match is known, also replaces the tokens of its seats in the database. */
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
  const { seed, clock } = order;
  const session = await driver.host.create({ game, options: parsed, seed, clock, seats, alongside });
  if (isKnown) options.onTokensChanged?.();
  sessions.forget();
  return session.id;
}

/**
 * Whether a stored match belongs to the run of an order, and not to an earlier run with a match of the same name. Without run ids the
 * seed distinguishes the runs: a manager that does not send `run_id` uses one seed for all epochs of a match.
 */
function isOfRun(host: SessionHost, stored: MatchRow, order: StartGame): boolean {
  if (stored.run_id !== null && order.run_id != null) {
    if (stored.run_id !== order.run_id) return false;
    if (stored.epoch !== order.epoch) return true;
  }
  const session = host.read(stored.session_id)?.session;
  const participants = Object.fromEntries(seatsOf(order).map(({ role, agentId }) => [role, agentId]));
  return session?.seedCommitment === sha256Hex(order.seed) && isDeepStrictEqual(session.participants, participants);
}
