import { compareIds, derivedMessageId } from "#shared/lib/ids.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { isOnLoopback, isOnThisMachine } from "#shared/protocol/addresses.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Agent } from "../../agents/registered-agent.ts";
import { leagueStream } from "../../league/events.ts";
import type { League, Match } from "../../league/league.ts";
import { type EffectsContext, MANAGER_SENDER, Tasks } from "../effects-context.ts";
import type { Health } from "./referee-health.ts";

/** The time after which an unfit referee is offered one match. It is fit again if it accepts it. */
const UNFIT_MS = 10_000;
const REASON_CHARACTERS = 200;

type RefereesContext = Pick<EffectsContext, "ledger" | "clock" | "machineAddresses" | "notice">;

/** Determines which registered referees can be assigned matches. */
export class Referees {
  readonly #context: RefereesContext;
  readonly #health: Pick<Health, "isUp">;
  /**
   * The monotonic time until which an unfit referee is offered no match while there are other referees, by referee id. An unfit referee answers
   * probes and accepts no match, e.g. because its endpoint is wrong. The times are in memory only: after a restart such a referee is offered a match
   * again.
   */
  readonly #unfitUntilMs = new Map<string, number>();
  readonly #removeListener: () => void;

  constructor(context: RefereesContext, health: Pick<Health, "isUp">) {
    this.#context = context;
    this.#health = health;
    this.#removeListener = context.ledger.onCommit(({ events }) => {
      for (const committed of events) {
        if (committed.kind === "agent" && committed.event.type === "forgotten") this.markFit(committed.agentId);
      }
    });
  }

  stop(): void {
    this.#removeListener();
  }

  /** The referees that answer their probes, in the order of their ids. */
  up(): readonly Agent[] {
    return this.registered()
      .filter(({ id }) => this.#health.isUp(id))
      .sort((a, b) => compareIds(a.id, b.id));
  }

  registered(): readonly Agent[] {
    return [...this.#context.ledger.state.agents.values()].filter(({ kind }) => kind === "referee");
  }

  /** Whether a referee is up and accepts matches. An unfit referee without a match is fit again after `UNFIT_MS`. */
  isFit({ id }: Agent, occupied: ReadonlyMap<string, number>): boolean {
    if (!this.#health.isUp(id)) return false;
    const untilMs = this.#unfitUntilMs.get(id);
    return untilMs === undefined || (this.#context.clock.monotonic() >= untilMs && (occupied.get(id) ?? 0) === 0);
  }

  /**
   * Returns a function that gives the eligible referees of a match of the league: those that play its game and can reach its players. All matches
   * with a player on loopback share one set, because only this machine can reach such players. All other matches share another set.
   */
  eligible({ game }: League, candidates: readonly Agent[]): (match: Match) => ReadonlySet<Agent> {
    const all = new Set(candidates.filter(({ gameTypes }) => gameTypes.includes(game)));
    const machineAddresses = this.#context.machineAddresses();
    let onThisMachine: ReadonlySet<Agent> | null = null;
    return (match) => {
      if (!this.#hasPlayerOnLoopback(match)) return all;
      onThisMachine ??= new Set([...all].filter(({ endpoint }) => isOnThisMachine(endpoint, machineAddresses)));
      return onThisMachine;
    };
  }

  #hasPlayerOnLoopback({ players }: Match): boolean {
    const { agents } = this.#context.ledger.state;
    return players.some((id) => {
      const player = agents.get(id);
      return player !== undefined && isPlayerOnLoopback(player);
    });
  }

  /** Records that a referee has accepted a match or has registered. */
  markFit(refereeId: string): void {
    this.#unfitUntilMs.delete(refereeId);
  }

  /** Records that a referee answers and accepts no match. Sends a notice if it was fit before. */
  markUnfit(refereeId: string, detail: string): void {
    const { clock, notice } = this.#context;
    if (!this.#unfitUntilMs.has(refereeId)) {
      const reason = inOneLine(detail.slice(0, REASON_CHARACTERS));
      notice(
        `referee ${refereeId} accepts no matches (${reason}); they are assigned to another referee if there is one`,
      );
    }
    this.#unfitUntilMs.set(refereeId, clock.monotonic() + UNFIT_MS);
  }
}

/** Whether a player is on loopback. An agent is never changed in place, so its endpoint is parsed once. */
function isPlayerOnLoopback(player: Agent): boolean {
  const isLocal = loopbackPlayers.get(player) ?? isOnLoopback(player.endpoint);
  loopbackPlayers.set(player, isLocal);
  return isLocal;
}
const loopbackPlayers = new WeakMap<Agent, boolean>();

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
