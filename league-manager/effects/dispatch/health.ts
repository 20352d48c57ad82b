import { compareIds } from "#shared/lib/ids.ts";
import type { Agent } from "../../agents/agent.ts";
import { recoverPlayer } from "../../commands/players.ts";
import type { Commit } from "../../ledger.ts";
import type { EffectsContext } from "../part.ts";

const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;
/** A referee that misses so many probes in a row is down. */
const MAX_MISSES = 3;
/**
 * The same for one that has neither answered nor registered since the manager's start: `league run --resume` starts the referees at the same time as
 * the manager. Players have as long (readiness.ts).
 */
const MAX_MISSES_AT_START = 10;

/**
 * Probes every referee and every suspended player each second. A referee that is down loses its matches (dispatch.ts); a suspended player that
 * answers recovers.
 */
export class Health {
  readonly #context: EffectsContext;
  readonly #misses = new Map<string, number>();
  /** Referees that have answered or registered since the start. */
  readonly #heard = new Set<string>();
  readonly #stopped = new AbortController();
  readonly #probes = new Set<Promise<void>>();
  readonly #ends: readonly (() => void)[];

  constructor(context: EffectsContext) {
    this.#context = context;
    const { ledger, clock } = context;
    this.#ends = [
      clock.every(PROBE_EVERY_MS, () => this.#probeAll()),
      ledger.onCommit((commit) => this.#onCommit(commit)),
    ];
  }

  /** Whether a referee is registered and answers its probes. One that has not been probed yet counts as up. */
  isUp(refereeId: string): boolean {
    const isRegistered = this.#context.ledger.state.agents.get(refereeId)?.kind === "referee";
    const maxMisses = this.#heard.has(refereeId) ? MAX_MISSES : MAX_MISSES_AT_START;
    return isRegistered && (this.#misses.get(refereeId) ?? 0) < maxMisses;
  }

  /** The ids of referees that are down, the longest silent first. */
  silent(): readonly string[] {
    const missesOf = (id: string): number => this.#misses.get(id) ?? 0;
    const down = this.#referees().flatMap(({ id }) => (this.isUp(id) ? [] : [id]));
    return down.sort((a, b) => missesOf(b) - missesOf(a));
  }

  /** The referee has registered or answered. */
  markUp(refereeId: string): void {
    this.#misses.delete(refereeId);
    this.#heard.add(refereeId);
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end();
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

  /** Nothing answers at an endpoint that is no URL, e.g. the empty one of an agent that has lost it to another agent. */
  async #answers(endpoint: string): Promise<boolean> {
    const url = URL.parse("/health", endpoint);
    return url !== null && this.#context.peers.isAlive(url.href, PROBE_TIMEOUT_MS, this.#stopped.signal);
  }

  async #probeReferee({ id, endpoint }: Agent): Promise<void> {
    const { ledger, notice, wake } = this.#context;
    const answers = await this.#answers(endpoint);
    const isCurrent = ledger.state.agents.get(id)?.endpoint === endpoint;
    if (this.#stopped.signal.aborted || !isCurrent) return;
    const wasUp = this.isUp(id);
    if (answers) this.markUp(id);
    else this.#misses.set(id, (this.#misses.get(id) ?? 0) + 1);
    if (wasUp === this.isUp(id)) return;
    const left = this.#referees().filter((referee) => this.isUp(referee.id)).length;
    const next = left > 0 ? "its matches go to another" : "no referee is left: the league waits for one";
    notice(`referee ${id} ${answers ? "is back" : `does not answer; ${next}`}`);
    wake();
  }

  async #probeSuspended(player: Agent): Promise<void> {
    const { ledger } = this.#context;
    if (!(await this.#answers(player.endpoint)) || this.#stopped.signal.aborted) return;
    await ledger.execute(recoverPlayer(player.id));
  }

  #onCommit({ events }: Commit): void {
    for (const one of events) {
      if (one.kind !== "agent" || one.event.type !== "forgotten") continue;
      this.#misses.delete(one.agentId);
      this.#heard.delete(one.agentId);
    }
  }
}
