import { derivedMessageId, matchRef } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { CallFault } from "#shared/rpc/peer/call.ts";
import { settleWithdrawal } from "../../commands/match-commands.ts";
import { leagueStream } from "../../league/events.ts";
import type { League, Withdrawal } from "../../league/league.ts";
import type { OpenWork } from "../../league/open-work.ts";
import { type EffectsContext, MANAGER_SENDER, type Part, Tasks } from "../effects-context.ts";
import type { Health } from "./referee-health.ts";

const FIRST_RESEND_MS = 300;
/** The pause between two messages is doubled up to this time. */
const LAST_RESEND_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

/**
 * Sends MATCH_WITHDRAWN to referees that have lost a match and may still play it. A referee that answers its probes receives the message until it
 * acknowledges it. Until then the match counts against its capacity (referees.ts). A withdrawal from a referee that is no longer registered is
 * settled without a message: the referee was forgotten while the config did not list the league.
 */
export class Withdrawals implements Part {
  readonly duty = "league";
  readonly #context: EffectsContext;
  readonly #health: Health;
  readonly #tasks = new Tasks();

  constructor(context: EffectsContext, health: Health) {
    this.#context = context;
    this.#health = health;
  }

  reconcile(league: League, { withdrawals }: OpenWork): void {
    const { failures, ledger } = this.#context;
    for (const withdrawal of withdrawals) {
      const { matchId, epoch, refereeId } = withdrawal;
      const isRegistered = ledger.state.agents.has(refereeId);
      if (isRegistered && !this.#isDue(league.leagueId, withdrawal)) continue;
      this.#tasks.start(`${league.leagueId}/${matchId}/${epoch}/${refereeId}`, (signal) =>
        isRegistered
          ? this.#inform(league, withdrawal, signal).catch((thrown) => failures.ofLeague(league.leagueId, thrown))
          : this.#settle(league.leagueId, withdrawal),
      );
    }
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  #settle(leagueId: string, { matchId, epoch, refereeId }: Withdrawal): Promise<void> {
    return this.#context.execute(leagueId, settleWithdrawal({ leagueId, matchId, epoch, refereeId }));
  }

  /** Whether a withdrawal is not settled and its referee is up. */
  #isDue(leagueId: string, { matchId, epoch, refereeId }: Withdrawal): boolean {
    const isOpen = this.#context.ledger.state.leagues
      .get(leagueId)
      ?.withdrawals.some((open) => open.matchId === matchId && open.epoch === epoch && open.refereeId === refereeId);
    return isOpen === true && this.#health.isUp(refereeId);
  }

  async #inform({ leagueId, runId }: League, withdrawal: Withdrawal, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    let pauseMs = FIRST_RESEND_MS;
    while (!signal.aborted && this.#isDue(leagueId, withdrawal)) {
      if (await this.#notify(leagueId, runId, withdrawal, signal)) {
        return this.#settle(leagueId, withdrawal);
      }
      await clock.pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, LAST_RESEND_MS);
    }
  }

  /** Sends MATCH_WITHDRAWN once. Resolves with true if the referee has acknowledged it or does not implement it. */
  async #notify(
    leagueId: string,
    runId: string,
    { matchId, epoch, refereeId }: Withdrawal,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { ledger, peers, clock, timeouts } = this.#context;
    const referee = ledger.state.agents.get(refereeId);
    if (!referee) return false;
    const payload = { league_id: leagueId, match_id: matchId, epoch };
    const envelope = newEnvelope("MATCH_WITHDRAWN", MANAGER_SENDER, payload, {
      at: clock.iso(),
      authToken: signFor(referee.tokenHash, matchRef(leagueId, matchId)),
      messageId: derivedMessageId(runId, leagueStream(leagueId), matchId, `${epoch}`, "MATCH_WITHDRAWN", refereeId),
    });
    const call = { timeoutMs: timeouts.default_ms, retry: true, signal, socket: referee.offersWebSocket };
    const reply = await peers.notify(referee.endpoint, envelope, call);
    return !signal.aborted && (reply.ok || isUnknownMessage(reply.error));
  }
}

/** Whether the referee does not implement MATCH_WITHDRAWN: it then always answers with a 4xx status. 429 is a rate limit. */
const isUnknownMessage = ({ status = 0 }: CallFault): boolean =>
  status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS;
