import { pause } from "#shared/lib/clock.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Peers } from "#shared/rpc/peer.ts";
import type { Agent } from "./agents.ts";
import type { Match } from "./league.ts";

export interface WithdrawalOptions {
  readonly peers: Peers;
  readonly sender: string;
  readonly timeoutMs: number;
  /** Whether a referee answers its health probes. */
  readonly isUp: (referee: Agent) => boolean;
  /** A referee has acknowledged a withdrawal: one place of it is free. */
  readonly onAcknowledged: () => void;
}

/**
 * Matches that were taken from a referee that may still play them. Each occupies a place of the referee until the referee
 * has acknowledged MATCH_WITHDRAWN.
 */
export interface Withdrawals {
  /** Adds a match under its current epoch. Returns the function that informs the referee, to be called when the next epoch is on disk. */
  add(referee: Agent, match: Match): () => void;
  /** How many places of a referee are occupied. */
  count(refereeId: string): number;
  /** Informs a referee that answers its probes again. */
  inform(referee: Agent): void;
  /** Removes every withdrawal of a referee. */
  forget(refereeId: string): void;
  stop(): void;
}

interface Withdrawal {
  readonly league_id: string;
  readonly match_id: string;
  readonly epoch: number;
  isBeingSent: boolean;
}

const RESEND_MS = 300;

export function createWithdrawals({ peers, sender, timeoutMs, isUp, onAcknowledged }: WithdrawalOptions): Withdrawals {
  const pending = new Map<string, Set<Withdrawal>>();
  const stopped = new AbortController();

  const isAcknowledged = async (referee: Agent, { league_id, match_id, epoch }: Withdrawal): Promise<boolean> => {
    const authToken = signFor(referee.tokenHash, matchRef(league_id, match_id));
    const envelope = newEnvelope("MATCH_WITHDRAWN", sender, { league_id, match_id, epoch }, { authToken });
    const reply = await peers.notify(referee.endpoint, envelope, { timeoutMs, retry: true, signal: stopped.signal });
    // A referee that does not implement MATCH_WITHDRAWN answers 4xx every time. 429 is a rate limit.
    return reply.ok || /^HTTP 4(?!29)/.test(reply.error.detail);
  };

  const send = async (referee: Agent, withdrawal: Withdrawal): Promise<void> => {
    if (withdrawal.isBeingSent) return;
    withdrawal.isBeingSent = true;
    const isDue = (): boolean =>
      !stopped.signal.aborted && isUp(referee) && pending.get(referee.id)?.has(withdrawal) === true;
    while (isDue()) {
      if (await isAcknowledged(referee, withdrawal)) {
        pending.get(referee.id)?.delete(withdrawal);
        onAcknowledged();
      } else await pause(RESEND_MS, stopped.signal);
    }
    withdrawal.isBeingSent = false;
  };

  return {
    add(referee, { leagueId, matchId, epoch }) {
      const withdrawal = { league_id: leagueId, match_id: matchId, epoch, isBeingSent: false };
      const ofReferee = pending.get(referee.id) ?? new Set();
      pending.set(referee.id, ofReferee.add(withdrawal));
      return () => void send(referee, withdrawal);
    },
    count: (refereeId) => pending.get(refereeId)?.size ?? 0,
    inform(referee) {
      for (const withdrawal of pending.get(referee.id) ?? []) void send(referee, withdrawal);
    },
    forget: (refereeId) => void pending.delete(refereeId),
    stop: () => stopped.abort(),
  };
}
