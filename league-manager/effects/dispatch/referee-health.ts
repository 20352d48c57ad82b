import { compareIds } from "#shared/lib/ids.ts";
import type { ProbeResult } from "#shared/rpc/peer/peer.ts";
import type { Agent } from "../../agents/registered-agent.ts";
import { recoverPlayer } from "../../commands/agent-commands.ts";
import type { Commit } from "../../ledger.ts";
import type { EffectsContext } from "../effects-context.ts";

const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;
/** The number of consecutive missed probes after which a referee is down, and of consecutive refused ones after which it has lost its matches. */
const MAX_MISSES = 3;
/**
 * The same for a referee that has neither answered nor registered since the manager's start, because `league run --resume` starts the referees at
 * the same time as the manager. Players have the same time (player-readiness.ts).
 */
const MAX_MISSES_AT_START = 10;
/**
 * The number of consecutive probes that a referee may leave unanswered before it loses a match. A process that is stopped, a busy machine and an
 * interrupted network are silent, and the referee continues its matches when it answers again. Probes are counted and not seconds, so that a manager
 * that was stopped itself does not count the time in which it has sent none.
 */
export const SILENT_PROBES = { programs: 10, person: 60 } as const;
export type Patience = keyof typeof SILENT_PROBES;
const PATIENCES: readonly Patience[] = ["programs", "person"];

/** The consecutive probes without an answer. */
interface Misses {
  readonly all: number;
  /** The number of the latest ones that were refused: no program listened at the endpoint. */
  readonly refused: number;
}
const NO_MISSES: Misses = { all: 0, refused: 0 };

/**
 * Probes every referee and every suspended player each second. A referee that is down gets no matches, and one that is lost loses those that it has
 * (dispatch.ts). A suspended player that answers recovers.
 */
export class Health {
  readonly #context: EffectsContext;
  readonly #misses = new Map<string, Misses>();
  /** Referees that have answered or registered since the manager's start. */
  readonly #confirmed = new Set<string>();
  readonly #stopped = new AbortController();
  readonly #probes = new Set<Promise<void>>();
  readonly #cancellations: readonly (() => void)[];

  constructor(context: EffectsContext) {
    this.#context = context;
    const { ledger, clock } = context;
    this.#cancellations = [
      clock.every(PROBE_EVERY_MS, () => this.#probeAll()),
      ledger.onCommit((commit) => this.#onCommit(commit)),
    ];
  }

  /** Whether a referee is registered and answers its probes. A referee that has not been probed yet is up. */
  isUp(refereeId: string): boolean {
    return this.#isRegistered(refereeId) && this.#missesOf(refereeId).all < this.#maxMisses(refereeId);
  }

  /** Whether a referee loses its matches of this kind: it is not registered, refuses connections, or has been silent for too long. */
  isLost(refereeId: string, patience: Patience): boolean {
    if (!this.#isRegistered(refereeId)) return true;
    const { all, refused } = this.#missesOf(refereeId);
    return refused >= this.#maxMisses(refereeId) || all >= SILENT_PROBES[patience];
  }

  /** The ids of the referees that are down, the longest silence first. */
  silentReferees(): readonly string[] {
    const down = this.#referees().flatMap(({ id }) => (this.isUp(id) ? [] : [id]));
    return down.sort((a, b) => this.#missesOf(b).all - this.#missesOf(a).all);
  }

  /** Records that a referee has registered or answered a probe. */
  markUp(refereeId: string): void {
    this.#misses.delete(refereeId);
    this.#confirmed.add(refereeId);
  }

  async stop(): Promise<void> {
    for (const cancel of this.#cancellations) cancel();
    this.#stopped.abort();
    await Promise.all(this.#probes);
  }

  #isRegistered(refereeId: string): boolean {
    return this.#context.ledger.state.agents.get(refereeId)?.kind === "referee";
  }

  #missesOf(refereeId: string): Misses {
    return this.#misses.get(refereeId) ?? NO_MISSES;
  }

  #maxMisses(refereeId: string): number {
    return this.#confirmed.has(refereeId) ? MAX_MISSES : MAX_MISSES_AT_START;
  }

  #referees(): Agent[] {
    const agents = [...this.#context.ledger.state.agents.values()];
    return agents.filter(({ kind }) => kind === "referee").sort((a, b) => compareIds(a.id, b.id));
  }

  #probeAll(): void {
    for (const agent of this.#context.ledger.state.agents.values()) {
      if (agent.kind === "referee") this.#track(this.#probeReferee(agent));
      else if (agent.state === "SUSPENDED" && agent.endpoint !== "") this.#track(this.#probeSuspended(agent));
    }
  }

  #track(probe: Promise<void>): void {
    const { failures } = this.#context;
    const tracked = probe
      .catch((thrown) => failures.other(thrown, "a health probe failed"))
      .finally(() => this.#probes.delete(tracked));
    this.#probes.add(tracked);
  }

  /** Probes an endpoint. Refused if it is not a URL, e.g. the empty one of an agent that has lost it. */
  async #probe(endpoint: string): Promise<ProbeResult> {
    const url = URL.parse("/health", endpoint);
    return url === null ? "refused" : this.#context.peers.probe(url.href, PROBE_TIMEOUT_MS, this.#stopped.signal);
  }

  async #probeReferee({ id, endpoint }: Agent): Promise<void> {
    const { ledger, notice, wake } = this.#context;
    const result = await this.#probe(endpoint);
    const isCurrent = ledger.state.agents.get(id)?.endpoint === endpoint;
    if (this.#stopped.signal.aborted || !isCurrent) return;
    const before = this.#stateOf(id);
    const { all, refused } = this.#missesOf(id);
    if (result === "alive") this.markUp(id);
    else this.#misses.set(id, { all: all + 1, refused: result === "refused" ? refused + 1 : 0 });
    const after = this.#stateOf(id);
    if (before.isUp !== after.isUp) notice(`referee ${id} ${after.isUp ? "answers again" : this.#consequence(id)}`);
    if (before.isUp !== after.isUp || before.lost !== after.lost) wake();
  }

  /** Whether a referee is up, and the number of kinds of matches that it loses. */
  #stateOf(id: string): { readonly isUp: boolean; readonly lost: number } {
    return { isUp: this.isUp(id), lost: PATIENCES.filter((patience) => this.isLost(id, patience)).length };
  }

  #consequence(id: string): string {
    if (!this.#referees().some((referee) => this.isUp(referee.id)))
      return "does not answer; no referee is left: the league waits for one";
    if (this.isLost(id, "person")) return "refuses connections; its matches are assigned to other referees";
    const { programs, person } = SILENT_PROBES;
    return `does not answer; its matches are assigned to other referees if it is silent for ${programs} s, or ${person} s with a person`;
  }

  async #probeSuspended(player: Agent): Promise<void> {
    const { ledger } = this.#context;
    if ((await this.#probe(player.endpoint)) !== "alive" || this.#stopped.signal.aborted) return;
    await ledger.execute(recoverPlayer(player.id));
  }

  #onCommit({ events }: Commit): void {
    for (const committed of events) {
      if (committed.kind !== "agent" || committed.event.type !== "forgotten") continue;
      this.#misses.delete(committed.agentId);
      this.#confirmed.delete(committed.agentId);
    }
  }
}
