import type { Logger } from "#shared/runtime/process/logger.ts";
import type { CommittedEvent, Ledger } from "../ledger.ts";
import { type LiveEvent, liveEventsAfter, liveEventsOf } from "./live.ts";
import type { Projections, StateChange } from "./projections.ts";

export interface LiveFeedOptions {
  readonly ledger: Pick<Ledger, "onCommit">;
  readonly projections: Projections;
  readonly log: Logger;
  readonly emit: (event: LiveEvent) => void;
  /** Called with each committed event and its change of an agent, after the event has advanced the projections. */
  readonly onCommitted: (committed: CommittedEvent, change: StateChange | null) => void;
}

/**
 * Advances the projections with each commit and emits its live events. Only `onCommitted` may read the projections during a commit, because other
 * listeners of the ledger may be called before the projections are advanced. Returns the function that stops the feed.
 */
export const liveFeed = ({ ledger, projections, log, emit, onCommitted }: LiveFeedOptions): (() => void) =>
  ledger.onCommit((commit) => {
    for (const committed of commit.events) {
      const change = projections.advance(committed, commit);
      if (change) {
        const { agent, was } = change;
        log.info({ agent: agent.id, was, state: agent.state }, "the state of an agent has changed");
      }
      onCommitted(committed, change);
      for (const event of liveEventsOf(committed, commit, projections, change)) emit(event);
    }
    for (const event of liveEventsAfter(commit, projections)) emit(event);
  });
