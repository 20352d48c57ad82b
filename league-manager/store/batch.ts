import type { NewEvent, StreamAppend } from "#shared/store/event-log.ts";
import { AGENT_FORMAT_VERSION, AgentEvent, agentStream } from "../agents/events.ts";
import { LEAGUE_FORMAT_VERSION, LeagueEvent, leagueStream } from "../league/events.ts";
import type { CommittedEvent, Decision, ManagerState, Write } from "../ledger.ts";
import { evolveState } from "./manager-state.ts";

/** The uncommitted results of the commands of one batch. */
export interface Batch {
  /** The time of its commands, ISO 8601, UTC. */
  readonly at: string;
  state: ManagerState;
  readonly events: CommittedEvent[];
  readonly appends: Map<string, StreamAppend & { readonly events: NewEvent[] }>;
  readonly writes: Write[];
  /** The characters of its session logs. */
  logLength: number;
}

/** A batch has no further command when its session logs have this number of characters. The database has a time limit for a statement. */
const FULL_LOG_LENGTH = 8_000_000;

export interface BatchContext {
  readonly leagueIds: readonly string[];
  /** The committed version of each stream. */
  readonly versions: ReadonlyMap<string, number>;
}

export const newBatch = (state: ManagerState, at: string): Batch => ({
  ...{ at, state, events: [], appends: new Map(), writes: [], logLength: 0 },
});

export const isEmpty = ({ appends, writes }: Batch): boolean => appends.size === 0 && writes.length === 0;

export const isFull = ({ logLength }: Batch): boolean => logLength >= FULL_LOG_LENGTH;

/** Adds a decision to a batch. Throws if an event cannot follow; the batch is then unchanged. */
export function addDecision(batch: Batch, decision: Decision<unknown>, context: BatchContext): void {
  const { writes = [] } = decision;
  const versions = new Map<string, number>();
  const nextVersion = (stream: string): number => {
    const { expectedVersion = context.versions.get(stream) ?? 0, events = [] } = batch.appends.get(stream) ?? {};
    const version = (versions.get(stream) ?? expectedVersion + events.length) + 1;
    versions.set(stream, version);
    return version;
  };
  const added = checkedEvents(decision, batch.at, nextVersion);
  const state = evolveState(
    batch.state,
    { events: added.map(({ committed }) => committed), writes },
    context.leagueIds,
  );
  // The following statements do not throw, so the batch changes completely or not at all.
  batch.state = state;
  for (const { stream, body, committed } of added) {
    const append = batch.appends.get(stream) ?? { stream, expectedVersion: committed.version - 1, events: [] };
    append.events.push({ type: committed.event.type, body });
    batch.appends.set(stream, append);
    batch.events.push(committed);
  }
  batch.writes.push(...writes);
  batch.logLength += logLengthOf(writes);
}

function logLengthOf(writes: readonly Write[]): number {
  let length = 0;
  for (const write of writes)
    if (write.type === "session_log") for (const { length: entry } of write.log) length += entry;
  return length;
}

interface AddedEvent {
  readonly stream: string;
  readonly body: string;
  readonly committed: CommittedEvent;
}

/** The events of a decision in their stored form. Throws if an event does not match its schema, because the next start could not read it. */
function checkedEvents(
  { leagueEvents = [], agentEvents = [] }: Decision<unknown>,
  at: string,
  nextVersion: (stream: string) => number,
): AddedEvent[] {
  const addedToLeagues = leagueEvents.map(({ leagueId, event }): AddedEvent => {
    const stream = leagueStream(leagueId);
    const checked = LeagueEvent.parse({ v: LEAGUE_FORMAT_VERSION, at, ...event });
    const committed = { kind: "league", leagueId, version: nextVersion(stream), event: checked } as const;
    return { stream, body: JSON.stringify(checked), committed };
  });
  const addedToAgents = agentEvents.map(({ agentId, event }): AddedEvent => {
    const stream = agentStream(agentId);
    const checked = AgentEvent.parse({ v: AGENT_FORMAT_VERSION, at, ...event });
    const committed = { kind: "agent", agentId, version: nextVersion(stream), event: checked } as const;
    return { stream, body: JSON.stringify(checked), committed };
  });
  return [...addedToLeagues, ...addedToAgents];
}
