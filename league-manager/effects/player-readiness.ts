import type { EffectsContext } from "./effects-context.ts";

/** The time after the manager's start in which players must begin to listen. */
const LIMIT_MS = 10_000;
const PROBE_EVERY_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;

/**
 * Tracks which players have registered or answered since the manager's start. `league run --resume` starts the players at the same time as the
 * manager. A match that is handed over before its players listen would be forfeited.
 */
export class Readiness {
  readonly #context: EffectsContext;
  readonly #startedAtMs: number;
  /** Players that have registered or answered a probe since the manager's start. */
  readonly #confirmed = new Set<string>();
  readonly #waiting = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();
  readonly #removeListener: () => void;

  constructor(context: EffectsContext) {
    this.#context = context;
    this.#startedAtMs = context.clock.monotonic();
    this.#removeListener = context.ledger.onCommit(({ events }) => {
      for (const committed of events) {
        if (committed.kind !== "agent") continue;
        const { type } = committed.event;
        if (type === "registered" || type === "returned") this.#confirmed.add(committed.agentId);
      }
    });
  }

  /** Resolves when a player has registered or answered, at the latest `LIMIT_MS` after the manager's start. Resolves immediately for referees. */
  ready(agentId: string): Promise<void> {
    if (this.#confirmed.has(agentId) || this.#isLate()) return Promise.resolve();
    const pending = this.#waiting.get(agentId);
    if (pending) return pending;
    const waiting = this.#awaitListening(agentId).finally(() => this.#waiting.delete(agentId));
    this.#waiting.set(agentId, waiting);
    return waiting;
  }

  async stop(): Promise<void> {
    this.#removeListener();
    this.#stopped.abort();
    await Promise.all(this.#waiting.values());
  }

  #isLate(): boolean {
    return this.#context.clock.monotonic() - this.#startedAtMs >= LIMIT_MS;
  }

  async #awaitListening(agentId: string): Promise<void> {
    const { ledger, peers, clock } = this.#context;
    const { signal } = this.#stopped;
    while (!signal.aborted && !this.#confirmed.has(agentId) && !this.#isLate()) {
      const agent = ledger.state.agents.get(agentId);
      if (agent?.kind !== "player" || agent.state === "SHUTDOWN" || agent.endpoint === "") return;
      if (await peers.isListening(agent.endpoint, PROBE_TIMEOUT_MS, signal)) this.#confirmed.add(agentId);
      else await clock.pause(PROBE_EVERY_MS, signal);
    }
  }
}
