import type { Logger } from "#shared/runtime/logger.ts";
import type { Ledger } from "../ledger.ts";
import { type LiveEvent, liveEventsAfter, liveEventsOf } from "./live.ts";
import type { Projections } from "./projections.ts";

/** Passes live events to listeners. It exists before both: its sources and its listeners are created one after the other. */
export interface LiveEvents {
  emit(event: LiveEvent): void;
  /** The listeners are called in the order in which they were added. */
  onEvent(listener: (event: LiveEvent) => void): void;
}

export function createLiveEvents(): LiveEvents {
  const listeners: ((event: LiveEvent) => void)[] = [];
  return {
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    onEvent: (listener) => void listeners.push(listener),
  };
}

/**
 * Advances the projections with each commit and reports its live events. Register it before everything else that listens to commits and reads
 * the projections. Returns the function that ends it.
 */
export const liveFeed = (
  ledger: Pick<Ledger, "onCommit">,
  projections: Projections,
  log: Logger,
  emit: (event: LiveEvent) => void,
): (() => void) =>
  ledger.onCommit((commit) => {
    for (const committed of commit.events) {
      const change = projections.advance(committed, commit);
      if (change) {
        const { agent, was } = change;
        log.info({ agent: agent.id, was, state: agent.state }, "an agent's state has changed");
      }
      for (const event of liveEventsOf(committed, commit, projections, change)) emit(event);
    }
    for (const event of liveEventsAfter(commit, projections)) emit(event);
  });
