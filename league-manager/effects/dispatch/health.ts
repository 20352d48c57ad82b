import { compareIds } from "#shared/lib/ids.ts";
import type { Agent } from "../../agents/agent.ts";
import { recoverPlayer } from "../../commands/players.ts";
import type { Commit } from "../../ledger.ts";
import type { EffectsContext } from "../effects-context.ts";

const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;
/** The number of consecutive missed probes after which a referee is down. */
const MAX_MISSES = 3;
/**
 * The same for a referee that has neither answered nor registered since the manager's start, because `league run --resume` starts the referees at
 * the same time as the manager. Players have the same time (readiness.ts).
 */
const MAX_MISSES_AT_START = 10;

/**
 * Probes every referee and every suspended player each second. A referee that is down loses its matches (dispatch.ts). A suspended player that
 * answers recovers.
 */
export class Health {
  readonly #context: EffectsContext;
  readonly #misses = new Map<string, number>();
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
    const isRegistered = this.#context.ledger.state.agents.get(refereeId)?.kind === "referee";
    const maxMisses = this.#confirmed.has(refereeId) ? MAX_MISSES : MAX_MISSES_AT_START;
    return isRegistered && (this.#misses.get(refereeId) ?? 0) < maxMisses;
  }

  /** The ids of the referees that are down, the longest silence first. */
  silentReferees(): readonly string[] {
    const missesOf = (id: string): number => this.#misses.get(id) ?? 0;
    const down = this.#referees().flatMap(({ id }) => (this.isUp(id) ? [] : [id]));
    return down.sort((a, b) => missesOf(b) - missesOf(a));
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

  /** Whether an agent answers at an endpoint. False for an endpoint that is not a URL, e.g. the empty one of an agent that has lost it. */
  async #isAlive(endpoint: string): Promise<boolean> {
    const url = URL.parse("/health", endpoint);
    return url !== null && this.#context.peers.isAlive(url.href, PROBE_TIMEOUT_MS, this.#stopped.signal);
  }

  async #probeReferee({ id, endpoint }: Agent): Promise<void> {
    const { ledger, notice, wake } = this.#context;
    const isAlive = await this.#isAlive(endpoint);
    const isCurrent = ledger.state.agents.get(id)?.endpoint === endpoint;
    if (this.#stopped.signal.aborted || !isCurrent) return;
    const wasUp = this.isUp(id);
    if (isAlive) this.markUp(id);
    else this.#misses.set(id, (this.#misses.get(id) ?? 0) + 1);
    if (wasUp === this.isUp(id)) return;
    const hasOthers = this.#referees().some((referee) => this.isUp(referee.id));
    const consequence = hasOthers
      ? "its matches are assigned to other referees"
      : "no referee is left: the league waits for one";
    notice(`referee ${id} ${isAlive ? "answers again" : `does not answer; ${consequence}`}`);
    wake();
  }

  async #probeSuspended(player: Agent): Promise<void> {
    const { ledger } = this.#context;
    if (!(await this.#isAlive(player.endpoint)) || this.#stopped.signal.aborted) return;
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
