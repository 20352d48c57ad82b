import type { EffectsContext } from "./part.ts";

/** How long after the manager's start players may take to listen. */
const LIMIT_MS = 10_000;
const LOOK_EVERY_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;

/**
 * Knows which players have registered or answered since the manager started. `league run --resume` starts the players at the same time as the manager:
 * a match that was handed over before they listen would be forfeited.
 */
export class Readiness {
  readonly #context: EffectsContext;
  readonly #startedAt: number;
  /** Players that have registered or answered a probe since the start. */
  readonly #heard = new Set<string>();
  readonly #waiting = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();
  readonly #removeListener: () => void;

  constructor(context: EffectsContext) {
    this.#context = context;
    this.#startedAt = context.clock.monotonic();
    this.#removeListener = context.ledger.onCommit(({ events }) => {
      for (const committed of events) {
        if (committed.kind !== "agent") continue;
        const { type } = committed.event;
        if (type === "registered" || type === "returned") this.#heard.add(committed.agentId);
      }
    });
  }

  /** Resolves when the player has registered or answered, ten seconds after the start at the latest. Resolves immediately for all other agents. */
  ready(agentId: string): Promise<void> {
    if (this.#heard.has(agentId) || this.#isLate()) return Promise.resolve();
    const known = this.#waiting.get(agentId);
    if (known) return known;
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
    return this.#context.clock.monotonic() - this.#startedAt >= LIMIT_MS;
  }

  async #awaitListening(agentId: string): Promise<void> {
    const { ledger, peers, clock } = this.#context;
    const { signal } = this.#stopped;
    while (!signal.aborted && !this.#heard.has(agentId) && !this.#isLate()) {
      const agent = ledger.state.agents.get(agentId);
      if (agent?.kind !== "player" || agent.state === "SHUTDOWN" || agent.endpoint === "") return;
      if (await peers.isListening(agent.endpoint, PROBE_TIMEOUT_MS, signal)) this.#heard.add(agentId);
      else await clock.pause(LOOK_EVERY_MS, signal);
    }
  }
}
