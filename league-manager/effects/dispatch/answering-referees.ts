import { derivedMessageId } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Agent } from "../../agents/agent.ts";
import { leagueStream } from "../../league/events.ts";
import type { League } from "../../league/league.ts";
import { type EffectsContext, MANAGER_SENDER } from "../effects-context.ts";
import { Tasks } from "../tasks.ts";
import type { Referees } from "./referees.ts";

const ANSWER_TIMEOUT_MS = 2_000;
/** The time for which an answer counts. */
const ANSWERED_MS = 5_000;

/**
 * Finds out whether a referee takes requests, before a match of another referee moves to it. A health probe does not show that: its server may answer
 * probes while it rejects every message. The game of the match would end for nothing.
 */
export class AnsweringReferees {
  readonly #context: EffectsContext;
  readonly #referees: Pick<Referees, "markUnfit">;
  /** The monotonic time of the last answer, by referee id. */
  readonly #answeredAtMs = new Map<string, number>();
  readonly #checks = new Tasks();

  constructor(context: EffectsContext, referees: Pick<Referees, "markUnfit">) {
    this.#context = context;
    this.#referees = referees;
  }

  /** Whether a referee has just acknowledged a message. If not, asks it and requests another pass when the answer has arrived. */
  hasAnswered(referee: Agent, league: League): boolean {
    const { clock, failures, wake } = this.#context;
    const answeredAtMs = this.#answeredAtMs.get(referee.id) ?? Number.NEGATIVE_INFINITY;
    if (clock.monotonic() - answeredAtMs < ANSWERED_MS) return true;
    this.#checks.start(referee.id, (signal) =>
      this.#check(referee, league, signal)
        .catch((thrown) => failures.other(thrown, "a referee could not be asked"))
        .finally(wake),
    );
    return false;
  }

  stop(): Promise<void> {
    return this.#checks.stop();
  }

  /**
   * Sends an announcement without matches that is signed for the referee. A referee that rejects it is unfit for a while. One that it does not reach is asked
   * again in the next pass: the connection may only be broken for a moment, and an unfit referee with a match gets no other one.
   */
  async #check(referee: Agent, { leagueId, runId }: League, signal: AbortSignal): Promise<void> {
    const { clock, peers } = this.#context;
    const at = clock.iso();
    const payload = { league_id: leagueId, round_id: 0, matches: [] };
    const envelope = newEnvelope("ROUND_ANNOUNCEMENT", MANAGER_SENDER, payload, {
      at,
      authToken: signFor(referee.tokenHash, leagueId),
      messageId: derivedMessageId(runId, leagueStream(leagueId), "check", referee.id, at),
    });
    const reply = await peers.message(referee.endpoint, envelope, { timeoutMs: ANSWER_TIMEOUT_MS, signal });
    if (signal.aborted) return;
    if (reply.ok) {
      const { type, payload: answer } = reply.value;
      if (/_ERROR$/.test(type)) this.#referees.markUnfit(referee.id, String(answer.message));
      else this.#answeredAtMs.set(referee.id, clock.monotonic());
    } else if (reply.error.cause !== "refused" && reply.error.cause !== "timeout") {
      this.#referees.markUnfit(referee.id, reply.error.detail);
    }
  }
}
